import PostgresClient
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

@Suite(.serialized, .timeLimit(.minutes(15)))
struct UnseenObjectTests {
    @Test("a write to an object that the device's user may not read is answered like a write to a missing object")
    func unseen() async throws {
        let schema = try Schema.of([Note.self])
        let authority = SessionAuthority(
            user: "somebody", rulesFingerprint: 1,
            readable: { _ in .compare(PropertyPath("text"), .notEqual, .string("secret")) },
            permit: { $0.operation == .create ? nil : "Not permitted." })
        try await GatewayFixture.with(schema, authorize: { _ in authority }) { fixture in
            try await fixture.pool.execute("INSERT INTO note (_id, text) VALUES (1, 'secret'), (2, 'open')")
            let pool = fixture.pool
            try await DeviceSocket.with(schema, port: fixture.port) { device in
                try await device.sayHello()
                _ = try await device.firstEnd()
                let keys: [Int64] = [1, 99, 2]
                try await device.send(
                    .upload(
                        keys.enumerated().map { index, key in
                            Changeset(
                                number: Int64(index) + 1, base: 0, stamp: Stamp(microseconds: 1),
                                instructions: [
                                    .set(
                                        ObjectReference(classIndex: 0, key: .int(key)),
                                        [FieldWrite(column: 1, value: .string("x"))])
                                ])
                        }))
                var refused: [Int64] = []
                let end = try await device.firstEnd {
                    refused += $0.refusals.map(\.number)
                    return $0.acknowledged == 3
                }
                #expect(end != nil && refused == [3], "Only the write to an object that the user may read is refused.")
                let texts = try await pool.withConnection { try await $0.query("SELECT text FROM note ORDER BY _id") }
                #expect(try texts.map { try $0[0].string } == ["secret", "open"])
            }
        }
    }
}
