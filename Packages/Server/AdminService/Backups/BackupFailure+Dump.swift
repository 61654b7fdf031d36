import TomboloModel

extension BackupFailure {
    /// How much of pg_dump's messages is shown, in lines and in bytes.
    private static let lineCount = 4
    private static let byteCount = 600

    /// Hints for people, by pg_dump's English message.
    private static let hints: [(text: String, hint: String)] = [
        (
            "server version mismatch",
            "pg_dump is older than the database server: install the PostgreSQL client programs of the server's version."
        ),
        ("No space left on device", "The disk is full: delete backups that you don't need, or add disk space."),
        ("Disk quota exceeded", "The disk is full: delete backups that you don't need, or add disk space."),
        ("row-level security", "The user of TOMBOLO_BACKUP_URL needs BYPASSRLS: see docs/backups.md."),
        (
            "permission denied",
            "The user of TOMBOLO_BACKUP_URL needs the role pg_read_all_data: see docs/backups.md."
        ),
        (
            "canceling statement due to statement timeout",
            "A table was locked for more than a minute: try again later."
        ),
        ("password", "Check the user and the password in TOMBOLO_BACKUP_URL."),
        ("connection to server", "Check the address in TOMBOLO_BACKUP_URL, and that the database is running."),
    ]

    /// - Parameters:
    ///   - messages: the end of what pg_dump wrote to standard error.
    ///   - program: its path.
    init(ofDump messages: String, status: Int32, program: String) {
        self.init(messages, status: status, program: program, hints: Self.hints)
    }

    /// - Parameter hints: the first whose text occurs in the messages is used.
    init(_ messages: String, status: Int32, program: String, hints: [(text: String, hint: String)]) {
        let lines = messages.split(separator: "\n").suffix(Self.lineCount).joined(separator: " ")
        let hint = hints.first { messages.contains($0.text) }?.hint
        self.init(
            (hint.map { "\($0) " } ?? "") + "\(program) exited with status \(status)"
                + (lines.isEmpty ? "." : ": \(lines.shortened(toByteCount: Self.byteCount))"))
    }
}
