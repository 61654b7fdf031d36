import TomboloModel

extension BackupFailure {
    /// Hints for people, by pg_restore's English message.
    private static let restoreHints: [(text: String, hint: String)] = [
        (
            "unsupported version",
            "The backup was made by a newer pg_dump: install PostgreSQL's client programs of that version."
        ),
        (
            "No space left on device",
            "The database server's disk is full: give it room for a second copy of the database."
        ),
        ("Disk quota exceeded", "The database server's disk is full: give it room for a second copy of the database."),
        ("input file", "The file isn't whole, or isn't a backup of pg_dump."),
        ("could not read", "The file isn't whole, or isn't a backup of pg_dump."),
        ("unexpected end of file", "The file isn't whole."),
        ("must be superuser", "The backup has something that only a superuser can restore: see docs/backups.md."),
        ("must be owner", "The backup has something that only a superuser can restore: see docs/backups.md."),
        ("permission denied", "The user of TOMBOLO_RESTORE_URL may not do all of it: see docs/backups.md."),
        (
            "must be member",
            "The backup has something of another owner: make the user of TOMBOLO_RESTORE_URL a member of it."
        ),
        ("role \"", "A role that the backup names is gone: make it again first, or restore on the command line."),
        ("password", "Check the user and the password in TOMBOLO_RESTORE_URL."),
        ("connection to server", "Check the address in TOMBOLO_RESTORE_URL, and whether the database runs."),
    ]

    /// Shows the last error of pg_restore's messages, without the statement and the row that it was about.
    /// - Parameters:
    ///   - messages: the end of what pg_restore wrote to standard error.
    ///   - program: its path.
    init(ofRestore messages: String, status: Int32, program: String) {
        let line = messages.split(separator: "\n").last { $0.contains("error:") }
        self.init(line.map(String.init) ?? "", status: status, program: program, hints: Self.restoreHints)
    }

    static let noRestoreProgram = BackupFailure(
        "pg_restore isn't on the server's PATH: install PostgreSQL's client programs, of the database's version or newer "
            + "(Debian: postgresql-client).")
    static let restoreInterrupted = BackupFailure(
        "The server ended before the restore was done. The database is as it was; start the restore again.")
    static let restoreBusy = BackupFailure(
        "Another admin server was making or restoring a backup at that moment. Try it again when that is done.")
}
