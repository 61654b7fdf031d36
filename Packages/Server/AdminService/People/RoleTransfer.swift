import PostgresClient
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Hands a role that one user has in each scope, such as that of an event's owner, over to another user. One transaction:
/// at no moment, and after no crash, has the scope two holders or none.
struct RoleTransfer: Sendable {
    /// The body: `{"scope": "…", "to": "…"}`. Class and role may be left out where there is only one.
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
        /// What the former holder has now.
        let left: String
    }

    let pool: PostgresPool
    /// Who asks, and the rules that decide.
    let subject: Subject
    let rules: Rules

    /// If nobody has the role, it takes a rule that allows transferring it no matter who has it.
    /// - Throws: `RequestFailure`: 422 for what isn't a role to be handed over, 403 if the rules don't permit the caller to
    ///   transfer it, 409 if its scope is in the trash, the user has no account, or somebody else was faster.
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
                .unprocessable, localized("It doesn't say which role to hand over."),
                hint: known.isEmpty
                    ? localized("The rules have no such role: add 'exclusive' to their grants, see docs/rules.md.")
                    : "Send 'role': one of \(names).", source: .pointer("/role"))
        }
        guard let next = known.first(where: { $0.key.hasBytes(of: role) })?.value else {
            throw RequestFailure(
                .unprocessable,
                localized("The role '\(role.shortened(toByteCount: 60))' isn't handed over; it is given and taken."),
                hint: known.isEmpty ? nil : localized("Roles that are: \(names)."), source: .pointer("/role"))
        }
        return (role, next)
    }

    nonisolated(nonsending) private func perform(
        _ item: GrantClass, _ role: String, _ next: String, _ scope: Value, _ user: ObjectId,
        _ connection: PostgresConnection
    ) async throws -> Outcome {
        let found = try await item.grants(of: role, in: scope, connection)
        let index = item.columns.classIndex
        // Whoever may not do it learns neither whether there is such a scope nor who holds the role.
        // Where nobody holds it, it's nobody's: a rule that asks whose it is must not find whoever is to get it.
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
                .conflict, localized("The user has the role '\(role)' already."),
                hint: localized("There is nothing to do."))
        }
        try await checkAccount(user, connection)
        try await move(item, found.first, next, scope, from: from, to: user, connection)
        if found.isEmpty { try await item.insert(held, connection) }
        return Outcome(
            className: item.item.name, role: role, scope: GrantClass.text(scope) ?? "", from: from, to: user, left: next
        )
    }

    /// The row of the role goes to the new holder, and one of the lesser role to the former one: by moving the new
    /// holder's, who doesn't need it any more, or a new one.
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
