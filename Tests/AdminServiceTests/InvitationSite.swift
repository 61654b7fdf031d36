import AdminService
import Foundation
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Synchronization
import TomboloHTTP
import TomboloModel

/// An admin server that sends no mail, so the inviter gets the token.
struct InvitationSite: Sendable {
    /// A clock that tests advance.
    final class Clock: Sendable {
        private let offset = Mutex<Double>(0)
        var now: Date { Date().addingTimeInterval(offset.withLock { $0 }) }
        func advance(seconds: Double) { offset.withLock { $0 += seconds } }
    }

    let fixture: ServiceFixture
    let call: ServiceTestSupport.Caller
    let clock: Clock
    /// The address of a user without any role.
    let attendee = ServiceFixture.email("attendee")

    func invite(
        _ email: String, _ role: String, as inviter: String = "owner", scope: ObjectId? = nil,
        everywhere: Bool = false
    ) async throws -> Answer {
        let place = everywhere ? "" : #", "scope": "\#(scope ?? fixture.event)""#
        return try await call(
            .post, "/invitations", as: inviter, body: #"{"email": "\#(email)", "role": "\#(role)"\#(place)}"#)
    }

    func accept(_ token: String?, as role: String) async throws -> Answer {
        try await call(.post, "/invitations/accept", as: role, body: #"{"token": "\#(token ?? "")"}"#)
    }

    func join(_ token: String?, password: String = "long enough") async throws -> Answer {
        try await call(
            .post, "/invitations/join",
            body: #"{"token": "\#(token ?? "")", "password": "\#(password)", "name": "New"}"#)
    }

    func roles(_ email: String) async throws -> [String] {
        try await fixture.pool.query(
            """
            SELECT r.role FROM role_assignment r JOIN tombolo.account a ON a.id = r."user"
            WHERE a.email = $1 ORDER BY 1
            """, [.text(email)]
        ).map { try $0[0].string }
    }

    func set(registration confirmation: String) async throws {
        try await fixture.pool.query(
            """
            INSERT INTO tombolo.provider (name, enabled, settings) VALUES ('local-userpass', true, $1::text::jsonb)
            ON CONFLICT (name) DO UPDATE SET settings = EXCLUDED.settings
            """, [.text(#"{"registration": true, "confirmation": "\#(confirmation)"}"#)])
    }

    static func run(_ body: @escaping @Sendable (InvitationSite) async throws -> Void) async throws {
        try await ServiceFixture.with { fixture in
            let clock = Clock()
            let app = fixture.adminApplication(
                people: PeopleOptions(invitationLink: "https://example.org/invited") { clock.now })
            try await app.test(.router) {
                try await body(
                    InvitationSite(fixture: fixture, call: ServiceTestSupport.Caller($0, fixture), clock: clock))
            }
        }
    }
}
