public import AdminPanel
import ArgumentParser

/// An admin server as an executable, with an app's own additions to the panel or without any. This is all of an app's:
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
    /// How it's called in a shell.
    static var name: String { get }
    static var additions: PanelAdditions { get }
}

extension AdminServerProgram {
    public static var additions: PanelAdditions { PanelAdditions() }

    /// Runs it as the command line says, and ends the process if that fails.
    public static func main() async { await AdminServerCommand<Self>.main() }
}
