import Foundation

/// Reads a new password: twice from a person, without showing it, or once from a program's output.
public enum PasswordInput {
    /// - Throws: ``ToolError`` if nothing was entered, or the two entries differ.
    public static func read(for email: String) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else {
            guard let line = readLine(strippingNewline: true) else {
                throw ToolError("Standard input is empty.", fix: "Write the new password to it as the first line.")
            }
            return line
        }
        guard let first = ask("New password for \(email): "), let second = ask("Again: ") else {
            throw ToolError(
                "No password was given.", fix: "Run this again and type one, or pass it on standard input.")
        }
        guard first == second else {
            throw ToolError("The two passwords differ.", fix: "Run this again.")
        }
        return first
    }

    /// Asks once for an account's existing password.
    /// - Throws: ``ToolError`` if nothing was entered.
    public static func current(of email: String) throws -> String {
        let given = isatty(STDIN_FILENO) == 1 ? ask("Password of \(email): ") : readLine(strippingNewline: true)
        guard let given, !given.isEmpty else {
            throw ToolError(
                "No password was given.", fix: "Type it when asked, or pass it on standard input as the first line.")
        }
        return given
    }

    /// Reads a line that the terminal doesn't show while it is typed.
    private static func ask(_ prompt: String) -> String? {
        try? FileHandle.standardError.write(contentsOf: Data(prompt.utf8))
        var shown = termios()
        let isTerminal = tcgetattr(STDIN_FILENO, &shown) == 0
        if isTerminal {
            var hidden = shown
            hidden.c_lflag &= ~tcflag_t(ECHO)
            _ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        }
        let line = readLine(strippingNewline: true)
        if isTerminal { _ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown) }
        try? FileHandle.standardError.write(contentsOf: Data("\n".utf8))
        return line
    }
}
