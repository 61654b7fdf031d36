import Hummingbird
public import PostgresClient
public import TomboloAuthentication
public import TomboloHTTP
import TomboloModel
public import TomboloRules

/// Who has which role, for any app whose rules have `grants`.
///
/// - `POST /roles/transfer`: hands over an exclusive role, see ``RoleTransfer``
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
            access: Self.access(to: .transfer, rules)
        ) { request, context, grant in
            JSONAnswer(try await transfer(try await request.json(RoleTransfer.Wish.self, context), grant))
        }
        addInvitations(to: routes)
    }

    /// The operation for classes that give roles, and none for others.
    static func operations(
        _ operation: TomboloRules.Operation, _ rules: LiveRules
    ) -> @Sendable (ClassSchema) -> [TomboloRules.Operation] {
        { item in
            let rules = rules.current
            return rules.grantColumns.contains { rules.schema[$0.classIndex].name == item.name } ? [operation] : []
        }
    }

    /// The caller, read from the database again.
    func fresh(_ subject: Subject) async throws -> Subject {
        guard let user = subject.userID else {
            throw RequestFailure.needsUser
        }
        authenticator.forget(user)
        return try await authenticator.subject(of: user)
    }
}
