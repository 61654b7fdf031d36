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

    /// Whether a role can be given like this.
    /// - Parameters:
    ///   - role: the name of a ``RoleName``.
    ///   - event: needed for the roles of an event, and only for those.
    /// - Throws: ``ValueError`` for a role that does not exist, or that does not go with `event`.
    @discardableResult
    public static func check(_ role: String, event: ObjectId?) throws(ValueError) -> RoleName {
        guard let name = RoleName(rawValue: role) else {
            let known = RoleName.allCases.map(\.rawValue)
            let hint = role.nearest(in: known).map { " Did you mean '\($0)'?" } ?? ""
            throw ValueError("There is no role '\(role)'.\(hint) Known are: \(known.joined(separator: ", ")).")
        }
        guard RoleName.platformRoles.contains(name) == (event == nil) else {
            throw ValueError(
                event == nil
                    ? "The role '\(role)' is one of an event: name it with --event ID."
                    : "The role '\(role)' is one of the whole platform and takes no event.")
        }
        return name
    }

    /// Gives a user a role; again, nothing.
    /// - Throws: as ``check(_:event:)``; `PostgresError`.
    public static func give(
        _ role: String, to user: ObjectId, event: ObjectId?, _ pool: PostgresPool
    ) async throws {
        let name = try check(role, event: event)
        guard let index = EventModels.schema.index(of: "RoleAssignment") else { return }
        let upsert = RowUpsert(EventModels.schema, classIndex: index, existing: .keep)
        _ = try await pool.withConnection { connection in
            try await upsert.write([row(user: user, role: name, event: event)], connection)
        }
    }
}
