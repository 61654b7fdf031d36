import PostgresClient
import Testing
import TomboloModel
import TomboloSyncProtocol

@testable import GatewayService

@Suite(.timeLimit(.minutes(2)))
struct ReadErrorTests {
    @Test
    func `A batch that the database refuses to read ends the session for good`() async throws {
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            try await fixture.pool.execute(
                "INSERT INTO note (_id, text) VALUES (1, 'one'); ALTER TABLE note RENAME COLUMN text TO other")
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello()
                let failure = try await device.failure()
                #expect(failure?.code == .unavailable)
                #expect(failure?.isRetryable == false)
            }
        }
    }
}
