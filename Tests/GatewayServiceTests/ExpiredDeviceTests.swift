import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloSyncClient

/// A device whose history the gateway no longer knows. Nothing listens at the gateway's address.
@Suite(.timeLimit(.minutes(15)))
struct ExpiredDeviceTests {
    /// A device file that records what changes it.
    private final class NotingStore: DeviceStore {
        let schema: Schema
        private(set) var changes: [String] = []

        init(schema: Schema) { self.schema = schema }

        func state() throws -> DeviceState {
            DeviceState(
                client: ClientID(rawValue: 1), position: Self.position(1), active: .empty, wanted: .empty,
                acknowledged: 0, lastChangeset: 0)
        }
        func pendingChangesets(after: Int64, maximumCount: Int, maximumByteCount: Int) throws -> [Changeset] { [] }
        func stage(_ frame: BatchFrame) throws { changes.append("stage") }
        func apply(_ end: BatchEnd, frames: [BatchFrame], wallMicroseconds: Int64) throws -> AppliedBatch {
            changes.append("apply")
            return AppliedBatch(
                position: end.position, acknowledged: end.acknowledged, refusals: [], objectCount: 0, isEverything: true
            )
        }
        func setWantedSubscriptions(_ subscriptions: SubscriptionSet) throws {}
        func refuseSubscriptions(version: Int64, reason: String) throws {}
        func untoldRefusals(after id: Int64) throws -> [UntoldRefusal] { [] }
        func forgetRefusals(through id: Int64) throws {}
        func noteReset() throws { changes.append("note reset") }
        func finishReset() throws {}
        func reset(client: ClientID, discardsPending: Bool) throws {
            changes.append(discardsPending ? "discard" : "recover")
        }

        static func position(_ tick: Int64) -> TomboloSyncProtocol.Position {
            TomboloSyncProtocol.Position(
                tick: tick, token: tick, subscriptionVersion: 0, rulesFingerprint: 0, schemaFingerprint: 0)
        }
    }

    /// What has happened to the file after a welcome and a first batch that arrived together.
    private func changes(_ engine: isolated SyncEngine) throws -> [String] {
        let store = try #require(try engine.openStore() as? NotingStore)
        engine.start()
        engine.handle(.connected(try store.state(), accessToken: ""))
        let time = Stamp(microseconds: 1)
        engine.handle(
            .messages([
                .welcome(Welcome(serverTime: time, lastChangeset: 0, isExpired: true)),
                .end(
                    BatchEnd(
                        position: NotingStore.position(9), serverTime: time, acknowledged: 0, replacesAll: true,
                        frameCount: 0)),
            ]))
        return store.changes
    }

    @Test(
        "a device applies the batch of a reset only if the app agrees, even if it arrived with the welcome",
        arguments: [
            (SyncEngine.ResetDecision.stop, [String]()), (.discard, ["discard"]), (.recover, ["note reset", "apply"]),
        ])
    func decision(_ decision: SyncEngine.ResetDecision, _ expected: [String]) async throws {
        let schema = try Schema.of([Note.self])
        let engine = try SyncEngine(
            configuration: SyncEngine.Configuration(
                url: try #require(URL(string: "ws://127.0.0.1:1/sync")),
                accessToken: {
                    try await Task.sleep(for: .seconds(600))
                    return ""
                }),
            makeStore: { NotingStore(schema: schema) }, resets: SyncEngine.ResetHandler(decide: { _ in decision }),
            onReport: { _ in })
        #expect(try await changes(engine) == expected)
        engine.close()
    }
}
