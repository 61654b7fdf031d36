import ArgumentParser

/// An admin server as an executable.
public protocol AdminServerProgram: Sendable {
    /// How it's called in a shell.
    static var name: String { get }
}

extension AdminServerProgram {
    /// Runs it as the command line says, and ends the process if that fails.
    public static func main() async { await AdminServerCommand<Self>.main() }
}
