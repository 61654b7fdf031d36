public import EventModels
import OpenEventImport
public import PostgresClient
public import TomboloModel

/// Gives roles from the command line.
public enum RoleAssignments {
    static func row(user: ObjectId, role: RoleName, event: ObjectId?) -> Row {
        let scope = event?.stringValue ?? "platform"
        var draft = RowDraft("RoleAssignment", OpenEventIdentity.id("role \(user) \(role.rawValue) \(scope)"))
        draft["user"] = .objectId(user)
        draft["role"] = .string(role.rawValue)
        draft["event"] = .optional(event)
        return draft.row
    }

    /// Checks whether a role can be given like this.
    /// - Parameters:
    ///   - role: the name of a ``RoleName``.
    ///   - event: required for an event's roles, and not allowed for others.
    /// - Throws: ``ValueError`` for a role that doesn't exist, or that doesn't go with `event`.
    @discardableResult
    public static func check(_ role: String, event: ObjectId?) throws(ValueError) -> RoleName {
        guard let name = RoleName(rawValue: role) else {
            let known = RoleName.allCases.map(\.rawValue)
            let hint = role.nearest(in: known).map { " Did you mean '\($0)'?" } ?? ""
            throw ValueError("There is no role '\(role)'.\(hint) Known roles: \(known.joined(separator: ", ")).")
        }
        guard RoleName.platformRoles.contains(name) == (event == nil) else {
            throw ValueError(
                event == nil
                    ? "The role '\(role)' belongs to an event: name it with --event ID."
                    : "The role '\(role)' belongs to the whole platform: leave out --event.")
        }
        return name
    }

    /// Whether a user has a role.
    /// - Throws: as ``check(_:event:)``; `PostgresError`.
    public static func has(_ role: String, _ user: ObjectId, event: ObjectId?, _ pool: PostgresPool) async throws
        -> Bool
    {
        let name = try check(role, event: event)
        let found = try await pool.query(
            """
            SELECT 1 FROM role_assignment WHERE "user" = $1 AND role = $2 AND event IS NOT DISTINCT FROM $3 LIMIT 1
            """, [.bytea(user.bytes), .text(name.rawValue), .bytea(event?.bytes)])
        return !found.isEmpty
    }

    /// Gives a user a role. Idempotent.
    /// - Returns: whether the user has the role now. False if they would be a second owner of an event, which has one
    ///   already.
    /// - Throws: as ``check(_:event:)``; `PostgresError`.
    @discardableResult
    public static func give(
        _ role: String, to user: ObjectId, event: ObjectId?, _ pool: PostgresPool
    ) async throws -> Bool {
        guard try await !has(role, user, event: event, pool) else { return true }
        let name = try check(role, event: event)
        guard let index = EventModels.schema.index(of: "RoleAssignment"),
            let key = EventModels.schema[index].primaryKeyIndex
        else { return false }
        // Not the key derived from user and role: an event's owner could have created an assignment with that key,
        // and then nothing would be written here.
        var assignment = row(user: user, role: name, event: event)
        assignment[key] = .objectId(.generate())
        let upsert = RowUpsert(EventModels.schema, classIndex: index, existing: .keep)
        let new = assignment
        let counts = try await pool.withConnection { try await upsert.write([new], $0) }
        if counts.inserted > 0 { return true }
        return try await has(role, user, event: event, pool)
    }
}
