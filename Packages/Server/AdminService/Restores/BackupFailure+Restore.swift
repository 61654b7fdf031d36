import TomboloModel

extension BackupFailure {
    /// Hints for people, by pg_restore's English message.
    private static let restoreHints: [(text: String, hint: String)] = [
        (
            "unsupported version",
            "The backup was made by a newer pg_dump: install the PostgreSQL client programs of that version."
        ),
        (
            "No space left on device",
            "The database server's disk is full: make room for a second copy of the database."
        ),
        ("Disk quota exceeded", "The database server's disk is full: make room for a second copy of the database."),
        ("input file", "The file is incomplete, or isn't a pg_dump backup."),
        ("could not read", "The file is incomplete, or isn't a pg_dump backup."),
        ("unexpected end of file", "The file is incomplete."),
        ("must be superuser", "The backup has something that only a superuser can restore: see docs/backups.md."),
        ("must be owner", "The backup has something that only a superuser can restore: see docs/backups.md."),
        (
            "permission denied",
            "The user of TOMBOLO_RESTORE_URL lacks a privilege that the restore needs: see docs/backups.md."
        ),
        (
            "must be member",
            "The backup has something that another role owns: make the user of TOMBOLO_RESTORE_URL a member "
                + "of that role."
        ),
        ("role \"", "A role that the backup names no longer exists: create it first, or restore on the command line."),
        ("password", "Check the user and the password in TOMBOLO_RESTORE_URL."),
        ("connection to server", "Check the address in TOMBOLO_RESTORE_URL, and that the database is running."),
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
        "pg_restore isn't on the server's PATH: install the PostgreSQL client programs of the database's version or "
            + "newer (Debian: postgresql-client).")
    static let restoreInterrupted = BackupFailure(
        "The server stopped before the restore was done. The database is unchanged; start the restore again.")
    static let restoreBusy = BackupFailure(
        "Another admin server was already making or restoring a backup. Try again when that is done.")
}
