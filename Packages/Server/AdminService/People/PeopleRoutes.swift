import Hummingbird
public import PostgresClient
public import TomboloAuthentication
public import TomboloHTTP
import TomboloModel
public import TomboloRules

/// Who has which role, of any app whose rules have `grants`.
///
/// - `POST /roles/transfer`: hands an exclusive role over, see ``RoleTransfer``
/// - `/invitations`: see ``InvitationDesk``
public struct PeopleRoutes: Sendable {
    let rules: LiveRules
    let pool: PostgresPool
    let authenticator: Authenticator
    let options: PeopleOptions

    public init(
        rules: LiveRules, pool: PostgresPool, authenticator: Authenticator, options: PeopleOptions = PeopleOptions()
    ) {
        self.rules = rules
        self.pool = pool
        self.authenticator = authenticator
        self.options = options
    }

    public func add(to routes: Routes) {
        routes.on(
            .post, "/roles/transfer",
            access: .anyObjects("transfer", ofAny: "roles", by: rules, Self.operations(.transfer, rules))
        ) { request, context, grant in
            let wish = try await request.json(RoleTransfer.Wish.self, context)
            // Roles that are a second old could be those of a former owner.
            let subject = try await fresh(grant.subject)
            let outcome = try await RoleTransfer(pool: pool, subject: subject, rules: grant.rules).perform(wish)
            for user in [outcome.from, outcome.to].compactMap({ $0 }) { authenticator.forget(user) }
            return JSONAnswer([
                "class": JSON.string(outcome.className), "role": .string(outcome.role), "scope": .string(outcome.scope),
                "from": outcome.from.map { .string($0.stringValue) } ?? .null, "to": .string(outcome.to.stringValue),
                "left": .string(outcome.left),
            ])
        }
        addInvitations(to: routes)
    }

    /// The operation on classes that give roles, and none on others.
    static func operations(
        _ operation: TomboloRules.Operation, _ rules: LiveRules
    ) -> @Sendable (ClassSchema) -> [TomboloRules.Operation] {
        { item in
            let rules = rules.current
            return rules.grantColumns.contains { rules.schema[$0.classIndex].name == item.name } ? [operation] : []
        }
    }

    /// The caller as the database has them now.
    func fresh(_ subject: Subject) async throws -> Subject {
        guard let user = subject.userID else {
            throw RequestFailure(.unauthenticated, "This needs a user.", hint: "Log in with POST /login.")
        }
        authenticator.forget(user)
        return try await authenticator.subject(of: user)
    }
}
