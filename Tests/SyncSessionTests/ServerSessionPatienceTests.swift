import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// How long a session waits for its device, counted in heartbeats.
@Suite struct ServerSessionPatienceTests: ServerSessionTranscript {
    var session = ServerSession(schema: F.schema)

    @Test("A device that doesn't open its session in time is disconnected, whatever it waits for", arguments: 0...2)
    mutating func openingEnds(_ steps: Int) {
        if steps > 0 { _ = on(.message(.hello(F.hello()))) }
        if steps > 1 { _ = on(.authenticated(F.authority)) }
        #expect(
            heartbeats(ServerSession.maximumOpeningHeartbeats) == ["send failure notAuthenticated", "close"])
    }

    @Test("A device that doesn't prove its changesets is told which ones, and disconnected")
    mutating func verifyingEnds() {
        _ = open(last: 2)
        _ = heartbeats(ServerSession.maximumSilentHeartbeats - 1)
        #expect(on(.message(.upload([F.changeset(1)]))) == ["upload [1]"])
        #expect(heartbeats(ServerSession.maximumSilentHeartbeats).isEmpty, "It's the server's turn.")
        #expect(on(.uploaded([.duplicate])).isEmpty)
        _ = heartbeats(ServerSession.maximumSilentHeartbeats - 1)
        guard case .send(.failure(let failure)) = session.handle(.heartbeat).first else {
            return #expect(Bool(false))
        }
        #expect(failure.message.contains("changesets 2 to 2"))
        #expect(failure.isRetryable)
    }

    @Test("Repeating the same changeset doesn't keep a session open")
    mutating func repeatingIsNoProgress() {
        _ = open(last: 2)
        _ = on(.message(.upload([F.changeset(1)])))
        _ = on(.uploaded([.duplicate]))
        _ = heartbeats(ServerSession.maximumSilentHeartbeats - 1)
        _ = on(.message(.upload([F.changeset(1)])))
        _ = on(.uploaded([.duplicate]))
        #expect(on(.heartbeat) == ["send failure unavailable", "close"])
    }

    @Test("A device that applies nothing is disconnected after a while, even if its connection is alive")
    mutating func applyingEnds() {
        goLive()
        for tick in 4..<(4 + Int64(ServerSession.maximumUnappliedBatches)) {
            _ = tell(F.live(tick))
        }
        _ = heartbeats(ServerSession.maximumUnappliedHeartbeats - 1)
        #expect(on(.heartbeat) == ["unfollow 1", "send failure unavailable", "close"])
    }
}
