import PostgresClient
import Testing
import Tombolo
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

/// A class with one list for everybody and one for a few.
final class Folder: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var open: List<String>
    @Persisted var secret: List<String>
}

@Suite(.serialized, .timeLimit(.minutes(15)))
struct HiddenListTests {
    private static let element = "'\\x" + String(repeating: "0", count: 23)

    @Test("the elements of an unreadable list never leave the gateway, in the bootstrap or live")
    func hiddenList() async throws {
        let schema = try Schema.of([Folder.self])
        let secret = schema.index(of: "Folder.secret")
        let authority = SessionAuthority(
            user: "somebody", rulesFingerprint: 1, readable: { .constant($0 != secret) }, permit: { _ in nil })
        try await GatewayFixture.with(schema, authorize: { _ in authority }) { fixture in
            let id = Self.element
            try await fixture.pool.execute(
                """
                INSERT INTO folder (_id) VALUES (1);
                INSERT INTO folder_open (_id, owner, rank, value) VALUES (\(id)1', 1, 'a', 'open');
                INSERT INTO folder_secret (_id, owner, rank, value) VALUES (\(id)2', 1, 'a', 'secret')
                """)
            try await fixture.waitForTick()
            let pool = fixture.pool
            try await DeviceSocket.with(schema, port: fixture.port) { device in
                try await device.sayHello(wanting: ["Folder"])
                let first = try await device.classesOfNextBatch()
                #expect(first == ["Folder", "Folder.open"])
                try await pool.execute(
                    """
                    BEGIN; UPDATE folder_secret SET value = 'changed'; UPDATE folder_open SET value = 'changed'; COMMIT
                    """)
                let changed = try await device.classesOfNextBatch()
                #expect(changed == ["Folder.open"])
                try await pool.execute("BEGIN; DELETE FROM folder_secret; DELETE FROM folder_open; COMMIT")
                let removed = try await device.classesOfNextBatch()
                #expect(removed == ["Folder.open"])
            }
        }
    }
}

extension DeviceSocket {
    /// The classes of the rows and removals up to the end of the next batch that has any.
    fileprivate func classesOfNextBatch() async throws -> Set<String>? {
        var classes: Set<String> = []
        return try await first { message in
            switch message {
            case .frame(let frame):
                let indexes = frame.blocks.map(\.classIndex) + frame.removals.map(\.classIndex)
                classes.formUnion(indexes.map { codec.schema[$0].name })
                return nil
            case .end(let end): return end.frameCount > 0 ? classes : nil
            default: return nil
            }
        }
    }
}
