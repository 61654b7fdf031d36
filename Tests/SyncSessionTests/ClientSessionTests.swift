import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// Transcripts of the device's side: events in, actions out.
@Suite struct ClientSessionTests {
    private var session = ClientSession(schema: F.schema)

    private mutating func on(_ event: ClientSession.Event) -> [String] { session.handle(event).map(\.text) }

    private func welcome(_ last: Int64 = 0) -> ClientSession.Event {
        .message(.welcome(Welcome(serverTime: Stamp(microseconds: 1), lastChangeset: last)))
    }

    /// Plays everything up to the welcome.
    private mutating func open(_ state: DeviceState = F.state(), last: Int64? = nil) -> [String] {
        _ = on(.start)
        _ = on(.connected(state, accessToken: "token"))
        return on(welcome(last ?? state.acknowledged))
    }

    /// Plays everything up to the first batch, at tick 3, with an empty queue.
    private mutating func goLive() {
        _ = open()
        _ = on(.message(.end(F.end(3))))
        _ = on(.applied(F.applied(3)))
        _ = on(.pending([]))
    }

    @Test("A session connects, applies its first batch and goes live")
    mutating func goingLive() {
        #expect(on(.start) == ["connecting", "connect"])
        #expect(on(.connected(F.state(), accessToken: "token")) == ["send hello at 3 acknowledged 0"])
        #expect(on(welcome()) == ["connected"])
        #expect(on(.message(.end(F.end(4)))) == ["apply 4"])
        #expect(on(.applied(F.applied(4))) == ["send applied 4", "complete 1"])
        #expect(session.isLive)
    }

    @Test("Frames are kept in memory, and the earliest are staged once they get too large")
    mutating func staging() {
        _ = open()
        #expect(on(.message(.frame(BatchFrame(sequence: 0)))) == ["download 0/0"])
        #expect(
            on(.message(.frame(BatchFrame(sequence: 1, totalObjects: 9, objectsSoFar: 4)))) == ["download 4/9"])
        #expect(on(.message(.end(F.end(4, frames: 2)))) == ["apply 4 with [0, 1]"])

        session = ClientSession(schema: F.schema, maximumUnstagedByteCount: 2 * F.frame(0).byteCount)
        _ = open()
        _ = on(.messages([.frame(F.frame(0)), .frame(F.frame(1))]))
        #expect(on(.message(.frame(F.frame(2)))) == ["stage 0", "download 0/0"])
        #expect(on(.message(.frame(F.frame(3)))) == ["stage 1", "download 0/0"])
        #expect(on(.message(.end(F.end(4, frames: 4)))) == ["apply 4 with [2, 3]"])
    }

    @Test("A batch restarted without frames is applied without the first attempt's frame")
    mutating func startingABatchAgain() {
        _ = open()
        _ = on(.message(.frame(BatchFrame(sequence: 0))))
        #expect(on(.message(.end(F.end(4)))) == ["apply 4"])
    }

    @Test("A batch that starts over is applied without the frames of the first attempt")
    mutating func beginningAgain() {
        _ = open()
        _ = on(.messages([.frame(F.frame(0)), .frame(F.frame(1))]))
        #expect(on(.messages([.frame(F.frame(0)), .end(F.end(4, frames: 1))])).last == "apply 4 with [0]")
    }

    @Test("Messages wait while a batch is applied, then the batches among them are applied as one")
    mutating func applying() {
        goLive()
        _ = on(.message(.end(F.end(4))))
        #expect(on(.message(.frame(BatchFrame(sequence: 0)))).isEmpty)
        #expect(on(.message(.end(F.end(5, frames: 1)))).isEmpty)
        #expect(on(.message(.end(F.end(6)))).isEmpty)
        #expect(
            on(.applied(F.applied(4))) == ["send applied 4", "complete 1", "download 0/0", "apply 6 with [0]"])
        #expect(on(.applied(F.applied(6))) == ["send applied 5", "send applied 6", "complete 1"])
    }

    // MARK: Batches that arrive together

    @Test("Batches that arrive together are applied as one, and each is answered")
    mutating func joining() {
        goLive()
        let messages: [ServerMessage] = [
            .frame(F.frame(0)), .end(F.end(4, acknowledged: 2, refusals: [F.refused(2)], frames: 1)),
            .frame(F.frame(0)), .frame(F.frame(1)), .end(F.end(5, frames: 2)),
            .end(F.end(6, acknowledged: 3, refusals: [F.refused(3)])), .frame(F.frame(0)),
        ]
        // The first part of the next batch has arrived too, and waits for the rest.
        #expect(on(.messages(messages)).last == "apply 6 with [0, 1, 2] acknowledged 3 refused [2, 3]")
        #expect(
            on(.applied(F.applied(6, acknowledged: 3))) == [
                "send applied 4", "send applied 5", "send applied 6", "acknowledged 3", "complete 1",
            ])
        #expect(on(.message(.end(F.end(7, frames: 1)))) == ["apply 7 with [0]"])
        #expect(on(.applied(F.applied(7))) == ["send applied 7", "complete 1"])
    }

    /// Arguments: messages that arrive together with a batch of tick 4, and the ticks that are then applied one by one.
    @Test(
        "Batches that mustn't be joined are applied one by one",
        arguments: [
            // One replaces everything, the next follows it.
            ([.end(F.end(5, replacesAll: true)), .end(F.end(6))], [4, 5, 6]),
            // They were made with different subscriptions.
            ([.end(F.end(5, subscriptions: 2)), .end(F.end(6, subscriptions: 2)), .end(F.end(7))], [4, 6, 7]),
            // One lacks a frame, which is for the store to detect.
            ([.frame(F.frame(1)), .end(F.end(5, frames: 2)), .end(F.end(6))], [4, 5, 6]),
            ([.frame(F.frame(0)), .frame(F.frame(2)), .end(F.end(5, frames: 2)), .end(F.end(6))], [4, 5, 6]),
        ] as [([ServerMessage], [Int64])])
    mutating func apart(_ messages: [ServerMessage], _ applied: [Int64]) {
        goLive()
        var actions = on(.messages([.end(F.end(4))] + messages))
        for (index, tick) in applied.enumerated() {
            #expect(actions.last?.hasPrefix("apply \(tick)") == true, "\(actions)")
            guard index + 1 < applied.count else { break }
            actions = on(.applied(F.applied(tick)))
        }
    }

    @Test("Batches are joined up to the size that may stay in memory")
    mutating func joiningSize() {
        session = ClientSession(schema: F.schema, maximumUnstagedByteCount: 2 * F.frame(0).byteCount)
        goLive()
        let batches = (4...6).flatMap { [ServerMessage.frame(F.frame(0)), .end(F.end($0, frames: 1))] }
        #expect(on(.messages(batches)).last == "apply 5 with [0, 1]")
        #expect(on(.applied(F.applied(5))).last == "apply 6 with [0]")
    }

    @Test("A first batch is applied on its own")
    mutating func firstAlone() {
        _ = open()
        #expect(on(.messages([.end(F.end(4)), .end(F.end(5)), .end(F.end(6))])) == ["apply 4"])
        #expect(on(.applied(F.applied(4))).last == "apply 6")
    }

    @Test("A failure that arrives with batches ends the session once they are applied")
    mutating func failureAfterBatches() {
        goLive()
        let failure = SessionFailure(.unavailable, "busy", isRetryable: true)
        #expect(on(.messages([.end(F.end(4)), .end(F.end(5)), .failure(failure), .end(F.end(6))])) == ["apply 5"])
        #expect(
            on(.applied(F.applied(5))) == [
                "send applied 4", "send applied 5", "complete 1", "disconnect", "failure unavailable", "disconnected",
                "wait",
            ])
        #expect(on(.applied(F.applied(6))).isEmpty)
    }

    @Test("Pending changesets are uploaded once the session is live, one load at a time")
    mutating func uploading() {
        _ = open(F.state(last: 2))
        #expect(on(.changesetQueued).isEmpty)
        _ = on(.message(.end(F.end(3))))
        #expect(on(.applied(F.applied(3))).last == "load after 0 at most 100")
        #expect(
            on(.pending([F.changeset(1), F.changeset(2)])) == ["send upload [1, 2]", "load after 2 at most 100"])
        #expect(on(.pending([])).isEmpty)
        #expect(on(.changesetQueued) == ["load after 2 at most 100"])
        #expect(on(.changesetQueued).isEmpty, "Only one load runs at a time.")
        #expect(on(.pending([F.changeset(3)])) == ["send upload [3]", "load after 3 at most 100"])
    }

    @Test("A full upload window stops uploads until an acknowledgement arrives")
    mutating func uploadWindow() {
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

    @Test("Refusals and acknowledgements are reported after the batch is applied")
    mutating func outcomes() {
        goLive()
        _ = on(.message(.end(F.end(4))))
        #expect(
            on(.applied(F.applied(4, acknowledged: 2, refusals: [F.refused(2)]))) == [
                "send applied 4", "refused [2]", "acknowledged 2", "complete 1",
            ])
    }

    @Test("A refusal is reported even if the connection was lost while the batch was applied")
    mutating func refusalAfterDisconnect() {
        goLive()
        _ = on(.message(.end(F.end(4))))
        _ = on(.disconnected(random: 0))
        #expect(on(.applied(F.applied(4, acknowledged: 2, refusals: [F.refused(2)]))) == ["refused [2]"])
    }

    @Test("After a batch that replaces everything, pending changesets are uploaded again")
    mutating func fullBatch() {
        goLive()
        _ = on(.changesetQueued)
        _ = on(.pending([F.changeset(1)]))
        _ = on(.pending([]))
        _ = on(.message(.end(F.end(4, replacesAll: true))))
        #expect(on(.applied(F.applied(4, isEverything: true))).last == "load after 0 at most 100")
        #expect(on(.pending([F.changeset(1, base: 4)])).first == "send upload [1]")
    }

    @Test("Changesets loaded before a batch that replaces everything aren't sent")
    mutating func loadBeforeFullBatch() {
        goLive()
        _ = on(.changesetQueued)
        _ = on(.pending([F.changeset(1)]))
        _ = on(.message(.end(F.end(4, replacesAll: true))))
        _ = on(.applied(F.applied(4, isEverything: true)))
        #expect(on(.pending([F.changeset(2)])) == ["load after 0 at most 100"])
    }

    // MARK: Showing what the server has

    @Test("The device proves changesets the server already has before its first batch")
    mutating func verifying() {
        #expect(open(F.state(last: 3), last: 2) == ["connected", "load after 0 at most 2"])
        #expect(on(.pending([F.changeset(1), F.changeset(2)])) == ["send upload [1, 2]"])
        _ = on(.message(.end(F.end(4, acknowledged: 2))))
        #expect(on(.applied(F.applied(4, acknowledged: 2))).last == "load after 2 at most 100")
        #expect(on(.pending([F.changeset(3)])).first == "send upload [3]")
    }

    @Test("A long proof is split over several uploads")
    mutating func verifyingMany() {
        #expect(open(F.state(last: 150), last: 120).last == "load after 0 at most 100")
        #expect(
            on(.pending((1...100).map { F.changeset($0) })).last == "load after 100 at most 20")
        #expect(on(.pending((101...120).map { F.changeset($0) })).count == 1)
    }

    @Test("A queue shorter than the server's ends its proof with an empty upload and resets when told")
    mutating func shorterQueue() {
        #expect(open(F.state(last: 1), last: 3).last == "load after 0 at most 3")
        #expect(on(.pending([F.changeset(1)])) == ["send upload [1]", "load after 1 at most 2"])
        #expect(on(.pending([])) == ["send upload []"])
        #expect(on(.message(.end(F.end(3, acknowledged: 1)))) == ["apply 3 acknowledged 1"])
        #expect(on(.message(.reset("copy"))).isEmpty)
        #expect(on(.applied(F.applied(3, acknowledged: 1))).suffix(3) == ["disconnect", "reset", "reset store"])
        #expect(on(.storeReset) == ["disconnected", "wait"])
    }

    // MARK: Subscriptions

    @Test("New subscriptions are sent once")
    mutating func subscribing() {
        goLive()
        #expect(on(.subscriptionsChanged(F.groupOne)) == ["send subscribe 2"])
        #expect(on(.subscriptionsChanged(F.groupOne)).isEmpty)
        _ = on(.message(.end(F.end(4, subscriptions: 2))))
        #expect(on(.applied(F.applied(4, subscriptions: 2))).last == "complete 2")
    }

    @Test("Subscriptions that change before the welcome are sent after the first batch")
    mutating func subscribingEarly() {
        _ = on(.start)
        _ = on(.connected(F.state(), accessToken: "token"))
        #expect(on(.subscriptionsChanged(F.groupOne)).isEmpty)
        _ = on(welcome())
        _ = on(.message(.end(F.end(3))))
        #expect(on(.applied(F.applied(3))).contains("send subscribe 2"))
    }

    @Test("Subscriptions that the hello carried aren't sent again")
    mutating func subscribedByHello() {
        _ = on(.start)
        _ = on(.subscriptionsChanged(F.groupOne))
        _ = on(.connected(F.state(wanted: F.groupOne), accessToken: "token"))
        _ = on(welcome())
        _ = on(.message(.end(F.end(3))))
        #expect(!on(.applied(F.applied(3))).contains("send subscribe 2"))
    }

    @Test("Refused subscriptions are dropped, and the session continues with the previous set")
    mutating func refusedSubscriptions() {
        goLive()
        _ = on(.subscriptionsChanged(F.groupOne))
        #expect(
            on(.message(.failure(SessionFailure(.badSubscription, "no")))) == [
                "disconnect", "refuse subscriptions 2", "subscriptions 2 refused badSubscription", "disconnected",
                "wait",
            ])
        #expect(on(.retry) == ["connecting", "connect"])
        #expect(on(.connected(F.state(), accessToken: "token")) == ["send hello at 3 acknowledged 0"])
        _ = on(welcome())
        _ = on(.message(.end(F.end(4))))
        #expect(on(.applied(F.applied(4))) == ["send applied 4", "complete 1"])
    }

    @Test("Active subscriptions that the server no longer accepts end the session")
    mutating func refusedActiveSubscriptions() {
        goLive()
        #expect(
            on(.message(.failure(SessionFailure(.badSubscription, "no")))) == [
                "disconnect", "failure badSubscription", "disconnected",
            ])
    }

    // MARK: Losing the connection

    @Test("A lost connection is retried")
    mutating func reconnecting() {
        goLive()
        #expect(on(.disconnected(random: 0.5)) == ["disconnected", "wait"])
        #expect(on(.disconnected(random: 0.5)).isEmpty)
        #expect(on(.retry) == ["connecting", "connect"])
        #expect(on(.disconnected(random: 0.5)) == ["disconnected", "wait"])
    }

    @Test("The waits between attempts grow up to a bound, and start over after a reset")
    mutating func backoff() {
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

    @Test("Answers from before the connection was lost are ignored")
    mutating func lateAnswers() {
        goLive()
        _ = on(.changesetQueued)
        _ = on(.message(.end(F.end(4))))
        _ = on(.disconnected(random: 0))
        #expect(on(.pending([F.changeset(1)])).isEmpty)
        #expect(on(.applied(F.applied(4))).isEmpty)
        #expect(on(.message(.end(F.end(5)))).isEmpty)
    }

    @Test("A batch that can't be applied makes the session reconnect and fetch it again")
    mutating func failedBatch() {
        goLive()
        _ = on(.message(.end(F.end(4))))
        #expect(on(.applyFailed) == ["disconnect", "disconnected", "wait"])
    }

    @Test("A reset empties the store and then reconnects")
    mutating func reset() {
        goLive()
        #expect(on(.message(.reset("restored"))) == ["disconnect", "reset", "reset store"])
        #expect(on(.disconnected(random: 0)).isEmpty)
        #expect(on(.storeReset) == ["disconnected", "wait"])
        #expect(on(.retry).last == "connect")
    }

    @Test("A session gives up on a server that keeps asking for resets, until the app resumes it")
    mutating func endlessResets() {
        goLive()
        for _ in 1...ClientSession.maximumResetsInARow {
            #expect(on(.message(.reset("restored"))).last == "reset store")
            _ = on(.storeReset)
            _ = on(.retry)
            _ = on(.connected(F.state(), accessToken: "token"))
        }
        #expect(on(.message(.reset("restored"))).first == "disconnect")
        #expect(on(.retry).isEmpty && on(.disconnected(random: 0)).isEmpty)
        #expect(on(.start) == ["connecting", "connect"])
        _ = on(.connected(F.state(), accessToken: "token"))
        #expect(on(.message(.reset("restored"))).last == "reset store")
    }

    @Test("A welcome to an expired position notes a reset, which the first batch completes with the same client id")
    mutating func expired() {
        _ = on(.start)
        _ = on(.connected(F.state(), accessToken: "token"))
        let welcome = Welcome(serverTime: Stamp(microseconds: 1), lastChangeset: 0, isExpired: true)
        #expect(on(.message(.welcome(welcome))) == ["connected", "reset", "note reset"])
        _ = on(.message(.end(F.end(4))))
        _ = on(.applied(F.applied(4)))
        #expect(session.isLive)
    }

    @Test("A permanent failure stops the session until the app starts it")
    mutating func lastingFailure() {
        goLive()
        #expect(
            on(.message(.failure(SessionFailure(.notAuthenticated, "expired")))) == [
                "disconnect", "failure notAuthenticated", "disconnected",
            ])
        #expect(on(.retry).isEmpty)
        #expect(on(.start) == ["connecting", "connect"])
    }

    @Test("A retryable failure is reported and retried")
    mutating func passingFailure() {
        goLive()
        #expect(
            on(.message(.failure(SessionFailure(.unavailable, "busy", isRetryable: true)))) == [
                "disconnect", "failure unavailable", "disconnected", "wait",
            ])
    }

    @Test("A stopped session ignores everything until it's started again")
    mutating func stopping() {
        goLive()
        #expect(on(.stop) == ["disconnect", "disconnected"])
        #expect(on(.retry).isEmpty)
        #expect(on(.message(.end(F.end(9)))).isEmpty)
        #expect(on(.changesetQueued).isEmpty)
        #expect(on(.start) == ["connecting", "connect"])
    }

    @Test("A reset that the store refuses is requested again on the next connection")
    mutating func failedReset() {
        goLive()
        #expect(on(.message(.reset("copy"))) == ["disconnect", "reset", "reset store"])
        // The file is busy or the disk is full.
        #expect(on(.storeResetFailed) == ["disconnected", "wait"])
        #expect(on(.retry) == ["connecting", "connect"])
    }

    @Test("Starting doesn't wait for the backoff")
    mutating func impatientStart() {
        goLive()
        _ = on(.disconnected(random: 0))
        #expect(on(.start) == ["connecting", "connect"])
        #expect(on(.retry).isEmpty, "The timer of the abandoned wait has no effect.")
    }
}
