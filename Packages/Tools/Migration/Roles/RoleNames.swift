import PostgresClient

/// The PostgreSQL names of a database's roles, by default `tombolo_gateway` and so on. Roles belong to the whole
/// cluster, so databases with their own names for them keep their servers apart.
public struct RoleNames: Hashable, Sendable {
    public static let defaultPrefix = "tombolo"
    /// The table where a database stores them.
    static let table = "database_role"

    public let prefix: String
    /// The stored names, by the roles' names in code.
    let stored: [String: String]

    public init(prefix: String = Self.defaultPrefix) {
        self.prefix = prefix
        stored = [:]
    }

    /// Reads the names that the database has stored. They take precedence over the prefix.
    /// - Parameter prefix: for roles without a stored name. Nil for the prefix of the others, or the default.
    static func read(_ connection: PostgresConnection, prefix: String?) async throws -> RoleNames {
        let isThere = try await connection.query("SELECT to_regclass('tombolo.\(table)') IS NOT NULL")
        guard try isThere[0, 0].bool else { return RoleNames(prefix: prefix ?? defaultPrefix) }
        var stored: [String: String] = [:]
        for row in try await connection.query("SELECT name, role FROM tombolo.\(table)") {
            stored[try row[0].string] = try row[1].string
        }
        let known = stored.sorted { $0.key < $1.key }.lazy.compactMap { name, role in
            role.hasSuffix("_\(name)") ? String(role.dropLast(name.count + 1)) : nil
        }.first
        return RoleNames(prefix: prefix ?? known ?? defaultPrefix, stored: stored)
    }

    private init(prefix: String, stored: [String: String]) {
        self.prefix = prefix
        self.stored = stored
    }

    public func name(of role: DatabaseRole) -> String { stored[role.name] ?? "\(prefix)_\(role.name)" }

    /// Why the database can't use a prefix, or nil if it can.
    func problem(with prefix: String?) -> String? {
        guard let prefix else { return nil }
        let isUsable =
            !prefix.isEmpty && prefix.utf8.count <= 40
            && prefix.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (97...122).contains($0) || (48...57).contains($0) }
            && !prefix.hasPrefix("pg_") && prefix != "pg"
        guard isUsable else {
            return "'\(prefix)' can't be the prefix of role names: use at most 40 lower-case letters, digits and "
                + "underscores, not starting with 'pg'."
        }
        let others = stored.filter { $0.value != "\(prefix)_\($0.key)" }.map(\.value).sorted()
        guard !others.isEmpty else { return nil }
        return "This database's roles already have other names: \(others.joined(separator: ", ")). Leave out "
            + "--role-prefix; names are chosen when the roles are first created."
    }
}
