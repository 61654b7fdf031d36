import AdminService
import HummingbirdTesting
import ServiceTestSupport
import TomboloHTTP
import TomboloServerModel

extension ServiceFixture {
    /// The admin server with its own database rights. Changes to its permission matrix take effect.
    func adminApplication(showsDecisions: Bool = false, people: PeopleOptions = PeopleOptions()) -> HTTPApplication {
        buildAdminApplication(
            host: "127.0.0.1", port: 0, pool: adminServer.pool, rules: adminModels.liveRules(), models: adminModels,
            authenticator: adminServer.authenticator, showsDecisions: showsDecisions, people: people)
    }

    /// Runs ``adminApplication(showsDecisions:people:)`` on its own database, without a socket.
    static func withAdminServer(
        showsDecisions: Bool = false,
        _ body: @escaping @Sendable (ServiceFixture, ServiceTestSupport.Caller) async throws -> Void
    ) async throws {
        try await with { fixture in
            try await fixture.adminApplication(showsDecisions: showsDecisions).test(.router) {
                try await body(fixture, ServiceTestSupport.Caller($0, fixture))
            }
        }
    }
}
