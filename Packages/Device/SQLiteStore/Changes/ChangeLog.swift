internal import TomboloModel

/// The log of a file's commits, `tombolo_commit`. It holds the changes of each commit, for Realms of this and other
/// processes that read an earlier version. Commit numbers are the file's versions.
///
/// Commits by programs that don't know the table, such as SQLite's own tools, only show in `PRAGMA data_version`.
package final class ChangeLog {
    private let connection: SQLiteConnection
    private let shape: ChangeShape
    private let classCount: Int
    private let hasTable: Bool

    /// The number of the last commit that this connection has seen or made.
    package private(set) var number: Int64 = 0
    /// SQLite's counter of other connections' commits: <https://www.sqlite.org/pragma.html#pragma_data_version>.
    private var dataVersion: Int64?
    /// The number of commits in the version that this connection last looked at, or nil if unknown.
    private var commitCount: UInt32?
    /// Whether a program wrote without the log. If so, the next entry says that everything may have changed, for
    /// connections that haven't looked since.
    private var owesEverything = false

    /// The minimum number of commits kept, and their maximum size in bytes.
    package static let maximumCount: Int64 = 1_000
    package static let maximumByteCount: Int64 = 4 << 20
    /// How many new commits it takes until commits beyond the maximum count are dropped.
    package static let trimInterval: Int64 = 64
    /// Commits beyond the maximum size are dropped after this many new bytes by one connection, or this many new
    /// commits by all. Finding them requires reading all commits.
    private static let weighByteCount = 1 << 16
    private static let weighInterval: Int64 = 1 << 10
    /// Bytes written since this connection last checked the size.
    private var unweighed = 0
    private var selectDataVersion: SQLiteStatement?
    private var insert: SQLiteStatement?

    private static let table =
        "CREATE TABLE IF NOT EXISTS tombolo_commit (number INTEGER PRIMARY KEY, changes BLOB NOT NULL)"

    /// Creates the table if it's missing.
    init(_ connection: SQLiteConnection, _ schema: Schema) throws {
        self.connection = connection
        shape = ChangeShape(schema)
        classCount = schema.classes.count
        let isThere =
            try connection.integer("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'tombolo_commit'")
            != nil
        if !isThere, !connection.isReadOnly { try connection.execute(Self.table) }
        hasTable = isThere || !connection.isReadOnly
    }

    /// The commits since the last call.
    package enum Advance: Hashable, Sendable {
        case nothing
        case changes(ChangeSet)
        /// A program without the log wrote, or the log doesn't go back far enough. Every row may have changed.
        case unknown(isOutsideWriter: Bool)
    }

    /// Begins a transaction on the newest version and finds what other connections committed.
    func beginReading() throws -> Advance {
        for attempt in 1... {
            let count = connection.commitCount
            try connection.run(.begin)
            // The first read fixes the version.
            let version = try readDataVersion()
            let isExact = connection.commitCount == count
            if isExact || attempt == Self.maximumBeginAttempts {
                return try advance(to: version, commitCount: isExact ? count : nil)
            }
            // Someone committed just now, so the number of commits in that version is unknown.
            try connection.run(.commit)
        }
        return .nothing
    }

    private static let maximumBeginAttempts = 8

    /// Finds what other connections committed. Call this in a write transaction that hasn't written yet, or outside
    /// transactions. The first call has nothing to compare with.
    package func advance() throws -> Advance {
        let count = connection.commitCount
        let version = try readDataVersion()
        return try advance(to: version, commitCount: connection.commitCount == count ? count : nil)
    }

    /// This connection's position among all commits of the file.
    package enum Standing: Hashable, Sendable {
        /// Nobody else has committed since the version that this connection last looked at.
        case newest
        /// Others have committed. The value is the current number of commits.
        case behind(UInt32)
        case unknown
    }

    /// Tells this connection's own commits from those of others, in this process and any other. Takes nanoseconds and
    /// no transaction: the count is in memory that the connections share, and a commit is counted as soon as it can be
    /// read.
    package var standing: Standing {
        guard let current = connection.commitCount, let commitCount else { return .unknown }
        return current == commitCount ? .newest : .behind(current)
    }

    private func advance(to version: Int64, commitCount count: UInt32?) throws -> Advance {
        let (knownVersion, knownNumber, knownCount) = (dataVersion, number, commitCount)
        if version == knownVersion {
            if let count { commitCount = count }
            return .nothing
        }
        dataVersion = version
        commitCount = count
        number = try latest()
        if knownVersion == nil { return .nothing }
        guard number > knownNumber else {
            // The write-ahead log was merely restarted, by a checkpoint or by a transaction that hasn't ended.
            if let count, count == knownCount { return .nothing }
            owesEverything = true
            return .unknown(isOutsideWriter: true)
        }
        let changes = try changes(after: knownNumber, through: number)
        return changes.map(Advance.changes) ?? .unknown(isOutsideWriter: false)
    }

    private func readDataVersion() throws -> Int64 {
        let statement = try selectDataVersion ?? connection.keptStatement("PRAGMA data_version")
        selectDataVersion = statement
        defer { statement.reset() }
        return try statement.step() ? statement.integer(at: 0) : 0
    }

    private func latest() throws -> Int64 {
        hasTable ? try connection.integer("SELECT max(number) FROM tombolo_commit") ?? 0 : 0
    }

    /// The merged changes, or nil if one of the commits is missing or unreadable.
    func changes(after known: Int64, through last: Int64) throws -> ChangeSet? {
        guard last - known <= Self.maximumCount + Self.trimInterval else { return nil }
        let statement = try connection.statement(
            "SELECT number, changes FROM tombolo_commit WHERE number > ? AND number <= ? ORDER BY number")
        defer { statement.reset() }
        statement.bind(known, at: 1)
        statement.bind(last, at: 2)
        var next = known + 1
        var result = ChangeSet()
        while try statement.step() {
            guard statement.integer(at: 0) == next, let changes = ChangeSet(statement.bytes(at: 1), shape) else {
                return nil
            }
            result.merge(changes)
            next += 1
        }
        return next == last + 1 ? result : nil
    }

    /// Adds an entry for the current transaction, right before the commit.
    /// - Returns: the resulting commit number. Pass it to ``committed(_:)`` after the commit.
    func append(_ changes: ChangeSet) throws -> Int64 {
        let bytes = (owesEverything ? .everything(classCount: classCount) : changes).encoded(shape)
        let insert = try insert ?? connection.keptStatement("INSERT INTO tombolo_commit (changes) VALUES (?)")
        self.insert = insert
        try insert.run(bytes: bytes, at: 1)
        let number = connection.lastInsertedRowID
        if number % Self.trimInterval == 0 { try trimCount(number) }
        unweighed += bytes.count
        if unweighed >= Self.weighByteCount || number % Self.weighInterval == 0 {
            try trimBytes(number)
            unweighed = 0
        }
        return number
    }

    func committed(_ number: Int64) {
        self.number = number
        commitCount = commitCount.map { $0 &+ 1 }
        owesEverything = false
    }

    private func trimCount(_ number: Int64) throws {
        let byCount = try connection.statement("DELETE FROM tombolo_commit WHERE number <= ?")
        byCount.bind(number - Self.maximumCount, at: 1)
        try byCount.run()
    }

    private func trimBytes(_ number: Int64) throws {
        // The newest entry stays, because its number determines the next one.
        let byBytes = try connection.statement(
            "DELETE FROM tombolo_commit WHERE number < ?1 AND number <= (SELECT max(number) FROM (SELECT number, "
                + "sum(length(changes)) OVER (ORDER BY number DESC) AS total FROM tombolo_commit) WHERE total > ?2)")
        byBytes.bind(number, at: 1)
        byBytes.bind(Self.maximumByteCount, at: 2)
        try byBytes.run()
    }
}
