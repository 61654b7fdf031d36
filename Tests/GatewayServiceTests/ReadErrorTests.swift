import PostgresClient
import Testing
import TomboloModel
import TomboloSyncProtocol

@testable import GatewayService

@Suite(.timeLimit(.minutes(15)))
struct ReadErrorTests {
    @Test
    func `A batch that the database refuses to read ends the session for good`() async throws {
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            try await fixture.pool.execute(
                "INSERT INTO note (_id, text) VALUES (1, 'one'); ALTER TABLE note RENAME COLUMN text TO other")
            try await fixture.waitForTick()
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello()
                let failure = try await device.failure()
                #expect(failure?.code == .unavailable)
                #expect(failure?.isRetryable == false)
            }
        }
    }

    @Test
    func `A row that no message can hold ends the session for good, and the error names its class`() async throws {
        try await GatewayFixture.with(try Schema.of([Letter.self])) { fixture in
            // A row from before the table limited the size of its rows.
            try await fixture.pool.execute("ALTER TABLE letter DROP CONSTRAINT letter_row_at_most_18_mib")
            try await fixture.pool.execute(
                "INSERT INTO letter (_id, text, answer) VALUES (1, repeat('a', 11 << 20), repeat('b', 11 << 20))")
            try await fixture.waitForTick()
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello()
                let failure = try await device.failure()
                #expect(failure?.code == .tooLarge)
                #expect(failure?.isRetryable == false)
                #expect(failure?.message.contains("Letter") == true)
            }
        }
    }
}

/// Two texts, each of a permitted size.
final class Letter: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var text: String
    @Persisted var answer: String
}
