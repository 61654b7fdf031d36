import PostgresClient
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Hands over to another user a role that exactly one user has in each scope, such as that of an event's owner. It's
/// one transaction, so at no moment, and after no crash, does the scope have two holders or none.
struct RoleTransfer: Sendable {
    /// The body: `{"scope": "…", "to": "…"}`. Class and role may be left out if there is only one.
    struct Wish: Decodable, Sendable {
        var `class`: String?
        var role: String?
        let scope: String
        /// The id of the user who gets the role.
        let to: String
    }

    struct Outcome: Sendable {
        let className: String
        let role: String
        let scope: String
        let from: ObjectId?
        let to: ObjectId
        /// The role that the former holder has now.
        let left: String
    }

    let pool: PostgresPool
    /// The caller, and the rules that decide.
    let subject: Subject
    let rules: Rules

    /// If nobody has the role, the rules must allow the caller to transfer it regardless of who has it.
    /// - Throws: `RequestFailure`: 422 for a role that can't be handed over, 403 if the rules don't permit the caller
    ///   to transfer it, 409 if its scope is in the trash, the user has no account, or a concurrent transfer won.
    nonisolated(nonsending) func perform(_ wish: Wish) async throws -> Outcome {
        let item = try GrantClass.find(wish.class, in: rules)
        let (role, next) = try exclusiveRole(wish.role, of: item)
        guard let scope = try item.scope(wish.scope) else {
            throw RequestFailure(.unprocessable, localized("'scope' is missing."), source: .pointer("/scope"))
        }
        guard let user = try? ObjectId(string: wish.to) else {
            throw RequestFailure(
                .unprocessable, localized("'to' isn't the id of a user."), hint: "Send 24 hexadecimal digits.",
                source: .pointer("/to"))
        }
        do {
            return try await pool.transaction { connection in
                try await perform(item, role, next, scope, user, connection)
            }
        } catch let error as PostgresError where error.code == .uniqueViolation {
            throw RequestFailure(
                .conflict, localized("Somebody else gave the role to another user at the same time."),
                hint: localized("Check who has it now before you go on."), cause: error)
        }
    }

    private func exclusiveRole(_ wanted: String?, of item: GrantClass) throws -> (role: String, next: String) {
        let known = item.columns.exclusive
        let names = known.keys.sorted().joined(separator: ", ")
        guard let role = wanted ?? (known.count == 1 ? known.keys.first : nil) else {
            throw RequestFailure(
                .unprocessable, localized("The request doesn't say which role to hand over."),
                hint: known.isEmpty
                    ? localized(
                        "The rules have no role that can be handed over: add 'exclusive' to their "
                            + "grants, see docs/rules.md.")
                    : "Send 'role': one of \(names).", source: .pointer("/role"))
        }
        guard let next = known.first(where: { $0.key.hasBytes(of: role) })?.value else {
            throw RequestFailure(
                .unprocessable,
                localized(
                    "The role '\(role.shortened(toByteCount: 60))' can't be handed over, only given and taken away."),
                hint: known.isEmpty ? nil : localized("Roles that can be handed over: \(names)."),
                source: .pointer("/role"))
        }
        return (role, next)
    }

    nonisolated(nonsending) private func perform(
        _ item: GrantClass, _ role: String, _ next: String, _ scope: Value, _ user: ObjectId,
        _ connection: PostgresConnection
    ) async throws -> Outcome {
        let found = try await item.grants(of: role, in: scope, connection)
        let index = item.columns.classIndex
        // A caller without permission learns neither whether the scope exists nor who holds the role. If nobody holds
        // it, the rules see an object without a user, so that a rule about the holder doesn't match the user who is
        // about to get the role.
        let held = try found.first ?? item.grant(role, to: user, in: scope)
        let asked = found.isEmpty ? item.vacant(held.row) : held.row
        if case .denied(let denial) = rules.authorize(
            subject, .transfer, .object(classIndex: index, old: asked, new: asked))
        {
            throw RequestFailure(denial)
        }
        try await item.lockScope(scope, connection)
        guard found.count <= 1 else {
            throw RequestFailure(
                .conflict, localized("Several users have the role '\(role)' here."),
                hint: localized("Take it from all but one of them, then hand it over."))
        }
        let from = found.first.flatMap { item.userID($0.row) }
        guard from != user else {
            throw RequestFailure(
                .conflict, localized("The user already has the role '\(role)'."),
                hint: localized("There is nothing to do."))
        }
        try await checkAccount(user, connection)
        try await move(item, found.first, next, scope, from: from, to: user, connection)
        if found.isEmpty { try await item.insert(held, connection) }
        return Outcome(
            className: item.item.name, role: role, scope: GrantClass.text(scope) ?? "", from: from, to: user, left: next
        )
    }

    /// Moves the role's row to the new holder, and gives the lesser role to the former one: by moving the new
    /// holder's row, who no longer needs it, or by a new row.
    nonisolated(nonsending) private func move(
        _ item: GrantClass, _ held: GrantClass.Grant?, _ next: String, _ scope: Value, from: ObjectId?, to: ObjectId,
        _ connection: PostgresConnection
    ) async throws {
        guard let held else { return }
        try await item.move(held, to: to, connection)
        guard let from else { return }
        try await item.lock(next, of: from, in: scope, connection)
        guard try await item.grants(of: next, to: from, in: scope, connection).isEmpty else { return }
        if let lesser = try await item.grants(of: next, to: to, in: scope, connection).first {
            try await item.move(lesser, to: from, connection)
        } else {
            try await item.insert(item.grant(next, to: from, in: scope), connection)
        }
    }

    nonisolated(nonsending) private func checkAccount(
        _ user: ObjectId, _ connection: PostgresConnection
    ) async throws {
        let found = try await connection.query(
            "SELECT 1 FROM tombolo.account WHERE id = $1 AND disabled_at IS NULL", [.bytea(user.bytes)])
        guard !found.isEmpty else {
            throw RequestFailure(
                .conflict, localized("There is no user with this id who can log in."),
                hint: localized("Hand it over to somebody with an account, or invite them first."),
                source: .pointer("/to"))
        }
    }
}
