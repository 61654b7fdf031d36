import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// Transcripts of the device's side: event in, actions out.
@Suite struct ClientSessionTests {
    private var session = ClientSession(schema: F.schema)

    private mutating func on(_ event: ClientSession.Event) -> [String] { session.handle(event).map(\.text) }

    private func welcome(_ last: Int64 = 0) -> ClientSession.Event {
        .message(.welcome(Welcome(serverTime: Stamp(microseconds: 1), lastChangeset: last)))
    }

    /// Up to the welcome.
    private mutating func open(_ state: DeviceState = F.state(), last: Int64? = nil) -> [String] {
        _ = on(.start)
        _ = on(.connected(state, accessToken: "token"))
        return on(welcome(last ?? state.acknowledged))
    }

    /// Up to the first batch, at tick 3, with an empty queue.
    private mutating func goLive() {
        _ = open()
        _ = on(.message(.end(F.end(3))))
        _ = on(.applied(F.applied(3)))
        _ = on(.pending([]))
    }

    @Test mutating func aSessionConnectsAndGoesLive() {
        #expect(on(.start) == ["connecting", "connect"])
        #expect(on(.connected(F.state(), accessToken: "token")) == ["send hello at 3 acknowledged 0"])
        #expect(on(welcome()) == ["connected"])
        #expect(on(.message(.end(F.end(4)))) == ["apply 4 last none"])
        #expect(on(.applied(F.applied(4))) == ["send applied 4", "complete 1"])
        #expect(session.isLive)
    }

    @Test mutating func framesAreStagedButForTheLast() {
        _ = open()
        #expect(on(.message(.frame(BatchFrame(sequence: 0)))) == ["download 0/0"])
        #expect(
            on(.message(.frame(BatchFrame(sequence: 1, totalObjects: 9, objectsSoFar: 4)))) == [
                "stage 0", "download 4/9",
            ])
        #expect(on(.message(.end(F.end(4, frames: 2)))) == ["apply 4 last 1"])
    }

    @Test("a batch that began again without frames is applied without the frame of its first attempt")
    mutating func startingABatchAgain() {
        _ = open()
        _ = on(.message(.frame(BatchFrame(sequence: 0))))
        #expect(on(.message(.end(F.end(4)))) == ["apply 4 last none"])
    }

    @Test mutating func messagesWaitWhileABatchIsApplied() {
        goLive()
        _ = on(.message(.end(F.end(4))))
        #expect(on(.message(.frame(BatchFrame(sequence: 0)))).isEmpty)
        #expect(on(.message(.end(F.end(5, frames: 1)))).isEmpty)
        #expect(on(.message(.end(F.end(6)))).isEmpty)
        #expect(
            on(.applied(F.applied(4))) == ["send applied 4", "complete 1", "download 0/0", "apply 5 last 0"])
        #expect(on(.applied(F.applied(5))) == ["send applied 5", "complete 1", "apply 6 last none"])
    }

    @Test mutating func pendingChangesetsAreUploadedOnceLive() {
        _ = open(F.state(last: 2))
        #expect(on(.changesetQueued).isEmpty)
        _ = on(.message(.end(F.end(3))))
        #expect(on(.applied(F.applied(3))).last == "load after 0 at most 100")
        #expect(
            on(.pending([F.changeset(1), F.changeset(2)])) == ["send upload [1, 2]", "load after 2 at most 100"])
        #expect(on(.pending([])).isEmpty)
        #expect(on(.changesetQueued) == ["load after 2 at most 100"])
        #expect(on(.changesetQueued).isEmpty, "One load at a time.")
        #expect(on(.pending([F.changeset(3)])) == ["send upload [3]", "load after 3 at most 100"])
    }

    @Test mutating func aFullWindowStopsUploadingUntilAnOutcome() {
        goLive()
        _ = on(.changesetQueued)
        var next: Int64 = 1
        var actions: [String] = []
        repeat {
            actions = on(.pending((next..<(next + 100)).map { F.changeset($0) }))
            next += 100
        } while actions.count == 2
        #expect(next - 1 == ClientSession.uploadWindow)
        _ = on(.message(.end(F.end(4, acknowledged: 100))))
        #expect(
            on(.applied(F.applied(4, acknowledged: 100))) == [
                "send applied 4", "acknowledged 100", "complete 1", "load after 1000 at most 100",
            ])
    }

    @Test mutating func outcomesAreReported() {
        goLive()
        _ = on(.message(.end(F.end(4))))
        #expect(
            on(.applied(F.applied(4, acknowledged: 2, refusals: [F.refused(2)]))) == [
                "send applied 4", "refused [2]", "acknowledged 2", "complete 1",
            ])
    }

    @Test mutating func aRefusalIsToldAlsoWhenTheConnectionWentMeanwhile() {
        goLive()
        _ = on(.message(.end(F.end(4))))
        _ = on(.disconnected(random: 0))
        #expect(on(.applied(F.applied(4, acknowledged: 2, refusals: [F.refused(2)]))) == ["refused [2]"])
    }

    @Test mutating func afterAFullBatchPendingChangesetsComeAgain() {
        goLive()
        _ = on(.changesetQueued)
        _ = on(.pending([F.changeset(1)]))
        _ = on(.pending([]))
        _ = on(.message(.end(F.end(4, replacesAll: true))))
        #expect(on(.applied(F.applied(4, isEverything: true))).last == "load after 0 at most 100")
        #expect(on(.pending([F.changeset(1, base: 4)])).first == "send upload [1]")
    }

    @Test mutating func changesetsLoadedBeforeAFullBatchAreNotSent() {
        goLive()
        _ = on(.changesetQueued)
        _ = on(.pending([F.changeset(1)]))
        _ = on(.message(.end(F.end(4, replacesAll: true))))
        _ = on(.applied(F.applied(4, isEverything: true)))
        #expect(on(.pending([F.changeset(2)])) == ["load after 0 at most 100"])
    }

    // MARK: Showing what the server has

    @Test mutating func whatTheServerHasIsShownAgainBeforeTheFirstBatch() {
        #expect(open(F.state(last: 3), last: 2) == ["connected", "load after 0 at most 2"])
        #expect(on(.pending([F.changeset(1), F.changeset(2)])) == ["send upload [1, 2]"])
        _ = on(.message(.end(F.end(4, acknowledged: 2))))
        #expect(on(.applied(F.applied(4, acknowledged: 2))).last == "load after 2 at most 100")
        #expect(on(.pending([F.changeset(3)])).first == "send upload [3]")
    }

    @Test mutating func manyAreShownInSeveralMessages() {
        #expect(open(F.state(last: 150), last: 120).last == "load after 0 at most 100")
        #expect(
            on(.pending((1...100).map { F.changeset($0) })).last == "load after 100 at most 20")
        #expect(on(.pending((101...120).map { F.changeset($0) })).count == 1)
    }

    @Test mutating func aShorterQueueSaysSo() {
        #expect(open(F.state(last: 1), last: 3).last == "load after 0 at most 3")
        #expect(on(.pending([F.changeset(1)])) == ["send upload [1]", "load after 1 at most 2"])
        #expect(on(.pending([])) == ["send upload []"])
        #expect(on(.message(.end(F.end(3, acknowledged: 1)))) == ["apply 3 last none"])
        #expect(on(.message(.reset("copy"))).isEmpty)
        #expect(on(.applied(F.applied(3, acknowledged: 1))).suffix(3) == ["disconnect", "reset", "reset store"])
        #expect(on(.storeReset) == ["disconnected", "wait"])
    }

    // MARK: Subscriptions

    @Test mutating func newSubscriptionsAreSentOnce() {
        goLive()
        #expect(on(.subscriptionsChanged(F.groupOne)) == ["send subscribe 2"])
        #expect(on(.subscriptionsChanged(F.groupOne)).isEmpty)
        _ = on(.message(.end(F.end(4, subscriptions: 2))))
        #expect(on(.applied(F.applied(4, subscriptions: 2))).last == "complete 2")
    }

    @Test mutating func subscriptionsThatChangeBeforeTheWelcomeFollowIt() {
        _ = on(.start)
        _ = on(.connected(F.state(), accessToken: "token"))
        #expect(on(.subscriptionsChanged(F.groupOne)).isEmpty)
        _ = on(welcome())
        _ = on(.message(.end(F.end(3))))
        #expect(on(.applied(F.applied(3))).contains("send subscribe 2"))
    }

    @Test mutating func subscriptionsThatHelloCarriedAreNotSentAgain() {
        _ = on(.start)
        _ = on(.subscriptionsChanged(F.groupOne))
        _ = on(.connected(F.state(wanted: F.groupOne), accessToken: "token"))
        _ = on(welcome())
        _ = on(.message(.end(F.end(3))))
        #expect(!on(.applied(F.applied(3))).contains("send subscribe 2"))
    }

    // MARK: Losing the connection

    @Test mutating func aLostConnectionIsTriedAgain() {
        goLive()
        #expect(on(.disconnected(random: 0.5)) == ["disconnected", "wait"])
        #expect(on(.disconnected(random: 0.5)).isEmpty)
        #expect(on(.retry) == ["connecting", "connect"])
        #expect(on(.disconnected(random: 0.5)) == ["disconnected", "wait"])
    }

    @Test mutating func waitsGrowToABoundAndFallBackOnceLive() {
        var backoff = Backoff()
        var last = Duration.zero
        for _ in 0..<30 {
            let wait = backoff.next(random: 0.999)
            #expect(wait >= last * 0.9)
            #expect(wait <= Backoff.longest)
            last = wait
        }
        #expect(last > Backoff.longest * 0.9)
        backoff.reset()
        #expect(backoff.next(random: 0) < Backoff.first)
    }

    @Test mutating func answersFromBeforeTheLossAreIgnored() {
        goLive()
        _ = on(.changesetQueued)
        _ = on(.message(.end(F.end(4))))
        _ = on(.disconnected(random: 0))
        #expect(on(.pending([F.changeset(1)])).isEmpty)
        #expect(on(.applied(F.applied(4))).isEmpty)
        #expect(on(.message(.end(F.end(5)))).isEmpty)
    }

    @Test mutating func aBatchThatCannotBeAppliedIsFetchedAgain() {
        goLive()
        _ = on(.message(.end(F.end(4))))
        #expect(on(.applyFailed) == ["disconnect", "disconnected", "wait"])
    }

    @Test mutating func aResetStartsOverUnderAnotherName() {
        goLive()
        #expect(on(.message(.reset("restored"))) == ["disconnect", "reset", "reset store"])
        #expect(on(.disconnected(random: 0)).isEmpty)
        #expect(on(.storeReset) == ["disconnected", "wait"])
        #expect(on(.retry).last == "connect")
    }

    @Test mutating func aLastingFailureStopsUntilStarted() {
        goLive()
        #expect(
            on(.message(.failure(SessionFailure(.notAuthenticated, "expired")))) == [
                "disconnect", "failure notAuthenticated", "disconnected",
            ])
        #expect(on(.retry).isEmpty)
        #expect(on(.start) == ["connecting", "connect"])
    }

    @Test mutating func aPassingFailureIsTriedAgain() {
        goLive()
        #expect(
            on(.message(.failure(SessionFailure(.unavailable, "busy", isRetryable: true)))) == [
                "disconnect", "failure unavailable", "disconnected", "wait",
            ])
    }

    @Test mutating func stoppingIsFinal() {
        goLive()
        #expect(on(.stop) == ["disconnect", "disconnected"])
        #expect(on(.retry).isEmpty)
        #expect(on(.message(.end(F.end(9)))).isEmpty)
        #expect(on(.changesetQueued).isEmpty)
        #expect(on(.start) == ["connecting", "connect"])
    }

    @Test mutating func aResetThatTheStoreRefusesIsAskedForAgain() {
        goLive()
        #expect(on(.message(.reset("copy"))) == ["disconnect", "reset", "reset store"])
        // The file is busy or the disk is full.
        #expect(on(.storeResetFailed) == ["disconnected", "wait"])
        #expect(on(.retry) == ["connecting", "connect"])
    }

    @Test mutating func startingDoesNotWaitForTheBackoff() {
        goLive()
        _ = on(.disconnected(random: 0))
        #expect(on(.start) == ["connecting", "connect"])
        #expect(on(.retry).isEmpty, "The timer of the wait says nothing any more.")
    }
}
