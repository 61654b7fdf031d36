/// Tracks the statements that a connection has prepared, evicting the least recently used.
///
/// A statement is prepared the second time it's used, so that one-off statements don't fill the server's memory.
struct PostgresStatementCache {
    /// Types are part of the key: on the server, the same text with other parameter types is another statement.
    struct Key: Hashable {
        let sql: String
        let oids: [UInt32]

        init(_ sql: String, _ parameters: [PostgresParameter]) {
            self.sql = sql
            oids = parameters.map(\.oid)
        }

        /// Compares the bytes of the text, which may contain literals.
        static func == (left: Key, right: Key) -> Bool {
            left.sql.isSameText(as: right.sql) && left.oids == right.oids
        }
    }

    enum Plan: Equatable {
        /// Send text and values together, unprepared.
        case unnamed
        /// Prepare under this name, then run it; report the outcome with `didPrepare` or `didNotPrepare`.
        case prepare(name: String)
        case prepared(name: String)
    }

    private struct Entry {
        var name: String?
        var lastUse: UInt64
    }

    let limit: Int
    private var entries: [Key: Entry] = [:]
    private var useCount: UInt64 = 0
    private var nameCount: UInt64 = 0
    /// Names on the server that are no longer used; the owner deallocates them.
    private(set) var abandonedNames: [String] = []

    init(limit: Int) {
        self.limit = max(0, limit)
    }

    var preparedCount: Int {
        entries.values.count { $0.name != nil }
    }

    mutating func plan(for key: Key) -> Plan {
        guard limit > 0 else { return .unnamed }
        useCount += 1
        if let entry = entries[key] {
            entries[key]?.lastUse = useCount
            if let name = entry.name { return .prepared(name: name) }
            nameCount += 1
            let name = "s\(nameCount)"
            entries[key]?.name = name
            return .prepare(name: name)
        }
        if entries.count >= limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            if let name = oldest.value.name { abandonedNames.append(name) }
            entries[oldest.key] = nil
        }
        entries[key] = Entry(name: nil, lastUse: useCount)
        return .unnamed
    }

    /// Records that the server refused to prepare the statement or never saw it.
    mutating func didNotPrepare(_ key: Key, name: String) {
        if entries[key]?.name == name { entries[key]?.name = nil }
        abandonedNames.removeAll { $0 == name }
    }

    /// Records that the server's prepared statement can no longer be used.
    mutating func invalidate(_ key: Key) {
        if let name = entries[key]?.name { abandonedNames.append(name) }
        entries[key] = nil
    }

    /// Records that the server dropped all statements (DISCARD ALL, DEALLOCATE ALL).
    mutating func reset() {
        entries = [:]
        abandonedNames = []
    }

    mutating func takeAbandonedNames() -> [String] {
        defer { abandonedNames = [] }
        return abandonedNames
    }
}
