internal import Foundation

/// Why a device file couldn't be opened, read or written.
public struct SQLiteStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The file or its folder can't be opened or created.
        case fileAccess
        case permissionDenied
        /// The file was deleted or moved while it was open.
        case fileNotFound
        /// A file exists where one was to be created.
        case fileExists
        /// The file isn't an SQLite database, or is damaged.
        case invalidDatabase
        /// Another writer kept the file locked for longer than ``SQLiteConnection/busyTimeoutSeconds``.
        case busy
        case diskFull
        /// The file was created for other classes.
        case schemaMismatch
        /// The file's format is newer than this version of Tombolo supports.
        case unsupportedFormat
        /// A local file was opened as a synced one, or vice versa.
        case incompatibleHistory
        /// A value or transaction that the store doesn't accept.
        case invalidInput
        /// The call was based on a state that's no longer current. Read the current state and try again.
        case outdated
        /// Anything else that SQLite reports.
        case failure
    }

    /// What kind of error it is.
    public let code: Code
    /// What was wrong, where, and what to do.
    public let message: String
    /// SQLite's extended result code, if SQLite reported the error: <https://www.sqlite.org/rescode.html>.
    public let resultCode: Int32?
    /// The statement that failed.
    public let sql: String?

    public init(_ code: Code, _ message: String, resultCode: Int32? = nil, sql: String? = nil) {
        self.code = code
        self.message = message
        self.resultCode = resultCode
        self.sql = sql
    }

    public var description: String {
        var text = message
        if let resultCode { text += " (SQLite result code \(resultCode))" }
        if let sql { text += "\nStatement: \(sql)" }
        return text
    }

    /// Whether a row with the primary key or the rowid already exists:
    /// <https://www.sqlite.org/rescode.html#constraint>.
    var isDuplicateKey: Bool {
        // SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_ROWID
        resultCode == 1555 || resultCode == 2067 || resultCode == 2579
    }

    private static func isUnreadable(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path) && !FileManager.default.isReadableFile(atPath: path)
    }

    /// Creates an error from a result code and SQLite's message.
    init(resultCode: Int32, message: String, path: String, sql: String? = nil) {
        let code: Code
        let text: String
        switch resultCode & 0xff {
        case 3, 23:
            (code, text) = (.permissionDenied, "No permission to use '\(path)': \(message).")
        case 14 where Self.isUnreadable(path):
            (code, text) = (.permissionDenied, "This user can't read '\(path)': change its permissions.")
        case 5, 6:
            code = .busy
            text =
                "'\(path)' stayed locked by another writer for \(SQLiteConnection.busyTimeoutSeconds) seconds. Keep "
                + "write transactions short, and don't wait inside them."
        case 8:
            (code, text) = (
                .permissionDenied,
                "This user can't write '\(path)': change the permissions of the file and its folder, or open it with "
                    + "readOnly."
            )
        case 11, 26:
            code = .invalidDatabase
            text = "'\(path)' is not a usable database: \(message). Restore it from a backup or delete it."
        case 13: (code, text) = (.diskFull, "No disk space left for '\(path)'. Free some and try again.")
        case 14: (code, text) = (.fileAccess, "Can't open '\(path)': \(message). Does its folder exist?")
        default: (code, text) = (.failure, "SQLite failed on '\(path)': \(message).")
        }
        self.init(code, text, resultCode: resultCode, sql: sql)
    }
}
