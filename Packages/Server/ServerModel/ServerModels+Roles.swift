internal import PostgresClient
internal import TomboloModel
internal import TomboloRuleDocuments
public import TomboloRules
import TomboloLocalization

/// A change to the roles of an app's matrix. Roles that the app's own rules name can't be renamed or removed.
public enum RoleChange: Sendable {
    /// - `isEverywhere`: whether it applies everywhere instead of within an object.
    /// - `boxes`: the ticked boxes, by service.
    case add(String, isEverywhere: Bool, boxes: [String: Set<TomboloRules.Operation>])
    /// Only for a role that nobody has.
    case remove(String)
    /// Users who have the role keep it under the new name.
    case rename(String, to: String)
}

extension ServerModels {
    /// Adds, removes or renames a role of an app's permission matrix, by storing a new version of its rule document
    /// like ``set(_:to:of:at:by:)`` does for a box.
    /// - Throws: ``PermissionChangeError``; ``ServerModelError``; the database's error.
    public func change(
        _ change: RoleChange, of app: String, at version: Int64, by subject: Subject
    ) async throws -> ServerModel {
        try await store(app, version, subject) { text throws(MatrixEditError) in
            switch change {
            case .add(let name, let isEverywhere, let boxes):
                try text.adding(name, isEverywhere: isEverywhere, boxes: boxes)
            case .remove(let name): try text.removing(name)
            case .rename(let name, let new): try text.renaming(name, to: new)
            }
        } along: { model, connection in
            try await Self.applyToGrants(change, of: app, model, connection)
        }
    }

    /// Updates the grants in the same transaction, so that nobody can be given a role while it is being added or
    /// removed.
    nonisolated(nonsending) private static func applyToGrants(
        _ change: RoleChange, of app: String, _ model: ServerModel, _ connection: PostgresConnection
    ) async throws {
        let classes = Set(model.models[app]?.classes.map(\.name) ?? [])
        for columns in model.rules.grantColumns where classes.contains(model.schema[columns.classIndex].name) {
            let item = model.schema[columns.classIndex]
            let table = PostgresSQL.quoteIdentifier("public", item.table)
            let role = PostgresSQL.quoteIdentifier(item.columns[columns.roleColumn].sqlName)
            switch change {
            case .add(let name, _, _):
                // A row that already has this name, from before the role existed, would suddenly grant it.
                let count = try await holderCount(name, table, role, connection)
                guard count == 0 else {
                    throw heldAlready(name, count)
                }
            case .remove(let name):
                let count = try await holderCount(name, table, role, connection)
                guard count == 0 else {
                    throw held(name, count)
                }
                // Otherwise they would grant a later role of the same name.
                try await connection.query(
                    """
                    UPDATE tombolo.invitation SET revoked_at = clock_timestamp()
                    WHERE role = $1 AND class = $2 AND accepted_at IS NULL AND revoked_at IS NULL
                    """, [.text(name), .text(item.name)])
            case .rename(let name, let new):
                let count = try await holderCount(new, table, role, connection)
                guard count == 0 else {
                    throw heldAlready(new, count)
                }
                do {
                    try await connection.query(
                        "UPDATE \(table) SET \(role) = $2 WHERE \(role) = $1", [.text(name), .text(new)])
                } catch let error as PostgresError where error.code.errorClass == "23" {
                    // Something that the app's database protects, such as roles of objects in the trash.
                    let reason = [error.message, error.hint].compactMap(\.self).joined(separator: " ")
                    throw PermissionChangeError.held(
                        localized("The database refuses to change a grant of '\(name)': \(reason) Nothing was changed.")
                    )
                }
                try await connection.query(
                    """
                    UPDATE tombolo.invitation SET role = $2
                    WHERE role = $1 AND class = $3 AND accepted_at IS NULL AND revoked_at IS NULL
                    """, [.text(name), .text(new), .text(item.name)])
            }
        }
    }

    /// How many grants give a role, including those in the trash. The table accepts no others until the transaction
    /// ends.
    nonisolated(nonsending) private static func holderCount(
        _ name: String, _ table: String, _ role: String, _ connection: PostgresConnection
    ) async throws -> Int64 {
        try await connection.execute("LOCK TABLE \(table) IN SHARE MODE")
        return try await connection.query(
            "SELECT count(*) FROM \(table) WHERE \(role) = $1", [.text(name)])[0, 0].int64
    }

    private static func held(_ name: String, _ count: Int64) -> PermissionChangeError {
        .held(
            localized(
                Int(count),
                one:
                    "\(count) grant gives the role '\(name)'. First take it away from everyone who has it; nothing was "
                    + "changed.",
                other:
                    "\(count) grants give the role '\(name)'. First take it away from everyone who has it; nothing was "
                    + "changed."
            ))
    }

    /// The error for a new role that rows already name.
    private static func heldAlready(_ name: String, _ count: Int64) -> PermissionChangeError {
        .held(
            localized(
                Int(count),
                one:
                    "\(count) grant already gives the role '\(name)', although it doesn't exist yet. Delete the grant "
                    + "first, or choose another name; nothing was changed.",
                other:
                    "\(count) grants already give the role '\(name)', although it doesn't exist yet. Delete the grants "
                    + "first, or choose another name; nothing was changed."))
    }
}
