import PostgresClient
import Synchronization
import Testing
import TomboloModel
import TomboloPostgresStore
import TomboloRules
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

/// Sessions whose server's model changes while they are open.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct MovingSessionTests {
    private struct RulesDoNotFit: Error {}
    private struct CannotBeServed: Error {}

    /// A model that a test replaces.
    private final class Models: ModelSource {
        struct State: Sendable {
            var version: Int64 = 1
            var schema: Schema
            var authority: SessionAuthority
            /// Whether the rules can be expressed in terms of older classes.
            var fitsOlder = true
            var canBeServed = true
            /// How often a store was asked for while there was none.
            var refusedCount = 0
        }

        private let pool: PostgresPool
        private let state: Mutex<State>

        init(_ pool: PostgresPool, _ schema: Schema) {
            self.pool = pool
            state = Mutex(State(schema: schema, authority: .everything))
        }

        var refusedCount: Int { state.withLock { $0.refusedCount } }

        func change(_ body: (inout State) -> Void) {
            state.withLock {
                $0.version += 1
                body(&$0)
            }
        }

        private func model(_ schema: Schema) -> GatewayModel {
            let state = state.withLock { $0 }
            return GatewayModel(version: state.version, schema: schema) { _ in state.authority }
        }

        func newest() -> GatewayModel { model(state.withLock { $0.schema }) }

        func newest(on schema: Schema) throws -> GatewayModel {
            guard state.withLock({ $0.fitsOlder }) else { throw RulesDoNotFit() }
            return model(schema)
        }

        func store(for schema: Schema) async throws -> any ServerStore {
            let canBeServed = state.withLock { state in
                if !state.canBeServed { state.refusedCount += 1 }
                return state.canBeServed
            }
            guard canBeServed else { throw CannotBeServed() }
            return try await PostgresServerStore.open(schema: schema, pool: pool)
        }

        func extend(by classes: [HelloClass]) -> Bool { false }
        func forget(_ news: AuthorityNews) {}
    }

    private static func schema(_ name: String, _ text: String, more: [Column] = []) throws -> Schema {
        let isRenamed = name != "Note"
        return try Schema([
            ClassSchema(
                name: name,
                columns: [
                    Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                    Column(name: text, type: .string, previousNames: text == "text" ? [] : ["text"]),
                ] + more, previousNames: isRenamed ? ["Note"] : [])
        ])
    }

    private static func authority(_ fingerprint: UInt64, readable: Predicate) -> SessionAuthority {
        SessionAuthority(
            user: "somebody", rulesFingerprint: fingerprint, readable: { _ in readable }, permit: { _ in nil })
    }

    /// Runs `body` with a device that has the only note.
    private func withSession(
        _ body: @escaping @Sendable (DeviceSocket, Models, PostgresPool) async throws -> Void
    ) async throws {
        let schema = try Self.schema("Note", "text")
        let models = Mutex<Models?>(nil)
        try await GatewayFixture.with(
            schema,
            models: { pool in
                let made = Models(pool, schema)
                models.withLock { $0 = made }
                return made
            }
        ) { fixture in
            let models = try #require(models.withLock { $0 })
            try await fixture.pool.execute("INSERT INTO note (_id, text) VALUES (1, 'one')")
            try await fixture.waitForTick()
            try await DeviceSocket.with(schema, port: fixture.port) { device in
                try await device.sayHello()
                #expect(try await device.firstEnd { $0.frameCount == 1 } != nil)
                try await body(device, models, fixture.pool)
            }
        }
    }

    /// Writes what the trigger on documents would, together with an insertion.
    private func announce(_ pool: PostgresPool, _ insertion: String) async throws {
        try await pool.execute(
            """
            BEGIN; INSERT INTO tombolo.changelog (class, key, operation, stamp) VALUES (-2, '7', 'c', 1); \(insertion); COMMIT
            """)
    }

    /// The number of rows that come up to and including the first batch under the rules with this fingerprint.
    private func rows(_ device: DeviceSocket, until fingerprint: UInt64) async throws -> (put: Int, gone: Int)? {
        var found = (put: 0, gone: 0)
        return try await device.first { message in
            switch message {
            case .frame(let frame):
                found.put += frame.blocks.reduce(0) { $0 + $1.rowCount }
                found.gone += frame.removals.reduce(0) { $0 + $1.keys.count }
                return nil
            case .end(let end) where end.position.rulesFingerprint == fingerprint: return found
            default: return nil
            }
        }
    }

    @Test("After a rename in SQL a session goes on under the names that its device knows")
    func rename() async throws {
        try await withSession { device, models, pool in
            let renamed = try Self.schema("Memo", "body")
            try await pool.withConnection { try await PostgresSchema.install(renamed, on: $0) }
            models.change {
                $0.schema = renamed
                $0.authority = Self.authority(2, readable: .compare(PropertyPath("body"), .notEqual, .string("secret")))
                $0.fitsOlder = false
            }
            try await announce(pool, "INSERT INTO memo (_id, body) VALUES (2, 'two'), (3, 'secret')")
            #expect(try await rows(device, until: 2)?.put == 1)
            try await pool.execute("INSERT INTO memo (_id, body) VALUES (4, 'four')")
            #expect(try await device.firstEnd { $0.frameCount == 1 } != nil)
        }
    }

    @Test("Rules on a property that older classes lack apply to their sessions too, from the rules' tick on")
    func newProperty() async throws {
        try await withSession { device, models, pool in
            let extended = try Self.schema(
                "Note", "text", more: [Column(name: "isOpen", type: .bool, isOptional: true)])
            try await pool.withConnection { try await PostgresSchema.install(extended, on: $0) }
            models.change {
                $0.schema = extended
                $0.authority = Self.authority(2, readable: .compare(PropertyPath("isOpen"), .equal, .bool(true)))
                $0.fitsOlder = false
            }
            try await announce(pool, "INSERT INTO note (_id, text, is_open) VALUES (2, 'two', true), (3, 'x', false)")
            let found = try await rows(device, until: 2)
            #expect(found?.put == 1 && found?.gone == 1, "\(String(describing: found))")
        }
    }

    @Test("While a new model can't be served, sessions get nothing under the old rules, and they resume afterwards")
    func held() async throws {
        try await withSession { device, models, pool in
            let renamed = try Self.schema("Memo", "body")
            try await pool.withConnection { try await PostgresSchema.install(renamed, on: $0) }
            models.change {
                $0.schema = renamed
                $0.authority = Self.authority(2, readable: .compare(PropertyPath("body"), .equal, .string("open")))
                $0.fitsOlder = false
                $0.canBeServed = false
            }
            try await announce(pool, "INSERT INTO memo (_id, body) VALUES (2, 'secret'), (3, 'open')")
            // From then on the session is on hold.
            while models.refusedCount == 0 { try await Task.sleep(for: .milliseconds(10)) }
            models.change { $0.canBeServed = true }
            let found = try await rows(device, until: 2)
            #expect(found?.put == 1 && found?.gone == 1, "\(String(describing: found))")
        }
    }
}
