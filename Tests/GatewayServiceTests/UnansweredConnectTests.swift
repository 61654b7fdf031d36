import Foundation
import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncClient
import TomboloSyncProtocol
import TomboloSyncSession

@Suite(.timeLimit(.minutes(15)))
struct UnansweredConnectTests {
    /// A device file that is never used.
    private final class NoStore: DeviceStore {
        struct NotAsked: Error {}

        let schema: Schema

        init(schema: Schema) { self.schema = schema }

        func state() throws -> DeviceState { throw NotAsked() }
        func pendingChangesets(after: Int64, maximumCount: Int, maximumByteCount: Int) throws -> [Changeset] { [] }
        func stage(_ frame: BatchFrame) throws {}
        func apply(_ end: BatchEnd, frames: [BatchFrame], wallMicroseconds: Int64) throws -> AppliedBatch {
            throw NotAsked()
        }
        func setWantedSubscriptions(_ subscriptions: SubscriptionSet) throws {}
        func refuseSubscriptions(version: Int64, reason: String) throws {}
        func untoldRefusals(after id: Int64) throws -> [UntoldRefusal] { [] }
        func forgetRefusals(through id: Int64) throws {}
        func noteReset() throws {}
        func finishReset() throws {}
        func reset(client: ClientID, discardsPending: Bool) throws {}
    }

    @Test("a connection attempt that gets no answer ends and is retried")
    func noAnswer() async throws {
        let schema = try Schema.of([Note.self])
        let (states, addState) = AsyncStream.makeStream(of: ClientSession.ConnectionState.self)
        let attempts = Mutex(0)
        let engine = try SyncEngine(
            configuration: SyncEngine.Configuration(
                url: try #require(URL(string: "ws://127.0.0.1:1/sync")),
                accessToken: {
                    attempts.withLock { $0 += 1 }
                    try await Task.sleep(for: .seconds(600))
                    return ""
                }, answerLimit: .milliseconds(1)),
            makeStore: { NoStore(schema: schema) },
            onReport: { if case .connection(let state) = $0 { addState.yield(state) } })
        await engine.start()
        var seen: [ClientSession.ConnectionState] = []
        for await state in states {
            seen.append(state)
            if seen.count == 3 { break }
        }
        #expect(seen == [.connecting, .disconnected, .connecting])
        engine.close()
    }
}
