import PostgresClient
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

@testable import GatewayService

@Suite(.serialized, .timeLimit(.minutes(15)))
struct UploadAddressTests {
    @Test("the changelog records, for the audit log, the IP address that a device's changes came from")
    func address() async throws {
        let schema = try Schema.of([Note.self])
        try await GatewayFixture.with(schema) { fixture in
            let pool = fixture.pool
            try await DeviceSocket.with(schema, port: fixture.port) { device in
                try await device.sayHello()
                _ = try await device.firstEnd()
                try await device.send(
                    .upload([
                        Changeset(
                            number: 1, base: 0, stamp: Stamp(microseconds: 1),
                            instructions: [
                                .create(
                                    ObjectReference(classIndex: 0, key: .int(1)),
                                    [FieldWrite(column: 1, value: .string("x"))])
                            ])
                    ]))
                let end = try await device.firstEnd { $0.acknowledged == 1 }
                #expect(end?.refusals.isEmpty == true)
                let found = try await pool.query("SELECT root FROM tombolo.changelog WHERE operation = 'p'")
                #expect(try found.map { try $0[0].string } == ["127.0.0.1"])
            }
        }
    }
}
