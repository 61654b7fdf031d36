public import AdminPanel
import ArgumentParser

/// An admin server as an executable, with or without an app's own additions to the panel. An app needs no more than
/// this:
///
///     import AdminServing
///
///     @main struct MyAdmin: AdminServerProgram {
///         static let name = "my-admin"
///         static let additions = PanelAdditions(pages: [SalesPages()])
///     }
///
/// It takes the options and variables of `admin-server`, and needs the same rights in the database.
public protocol AdminServerProgram: Sendable {
    /// Its name in a shell.
    static var name: String { get }
    static var additions: PanelAdditions { get }
}

extension AdminServerProgram {
    public static var additions: PanelAdditions { PanelAdditions() }

    /// Runs the server with the options of the command line. Ends the process if that fails.
    public static func main() async { await AdminServerCommand<Self>.main() }
}
