import Foundation
import PostgresClient
import Testing
import Tombolo
import TomboloModel

@MainActor
@Suite(.serialized)
struct LargeQueueTests {
    @Test
    func `A long queue of large changesets, made offline, arrives whole`() async throws {
        let (count, size) = (40, 512 << 10)
        try await GatewayFixture.with(try Schema.of([Sample.self])) { fixture in
            let realm = try await fixture.device("A", [Sample.self])
            realm.syncSession?.suspend()
            for number in 0..<count {
                try realm.write {
                    let sample = realm.create(Sample.self, value: ["_id": UUID()], update: .error)
                    sample.int = number
                    sample.bytes = Data(repeating: UInt8(number), count: size)
                }
            }
            realm.syncSession?.resume()
            try await realm.syncSession?.waitForUpload()
            let found = try await fixture.pool.query(
                "SELECT count(*), count(DISTINCT int), sum(octet_length(bytes))::bigint FROM sample")
            #expect(try found[0, 0].int64 == Int64(count))
            #expect(try found[0, 1].int64 == Int64(count))
            #expect(try found[0, 2].int64 == Int64(count * size))
            try await fixture.app.currentUser?.logOut()
        }
    }
}
