import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// Uploads, their outcomes, and copied device files.
@Suite struct ServerSessionUploadTests: ServerSessionTranscript {
    var session = ServerSession(schema: F.schema)

    // MARK: Uploads

    @Test("Uploads are applied one group at a time")
    mutating func uploads() {
        goLive()
        #expect(on(.message(.upload([F.changeset(1), F.changeset(2)]))) == ["upload [1, 2]"])
        #expect(on(.message(.upload([F.changeset(3)]))).isEmpty)
        #expect(on(.message(.upload([F.changeset(4)]))).isEmpty)
        #expect(
            on(.uploaded([.applied(lost: 0), .applied(lost: 0, refusals: [F.refused(2).refusal])])) == ["upload [3, 4]"]
        )
    }

    @Test("A tick with an upload's outcome acknowledges it, and each refusal is sent once")
    mutating func acknowledging() {
        goLive()
        _ = on(.message(.upload([F.changeset(1), F.changeset(2)])))
        _ = on(.uploaded([.applied(lost: 0), .applied(lost: 0, refusals: [F.refused(2).refusal])]))
        let progress = ClientProgress(last: 2, refusals: [F.refused(2)])
        #expect(
            tell(F.live(4, key: nil, progress: progress)) == ["send end 4 frames 0 acknowledged 2 refused [2]"])
        #expect(tell(F.live(5)) == ["send 1 live", "send end 5 frames 1"], "Each is told once.")
    }

    @Test("Refusals from several ticks are sent together, each once, after the device proved its changesets")
    mutating func refusalsOfSeveralTicks() {
        goLive()
        _ = tell(F.live(4, key: nil, progress: ClientProgress(last: 1, refusals: [F.refused(1)])))
        _ = tell(F.live(5, key: nil, progress: ClientProgress(last: 3, refusals: [F.refused(3)])))
        _ = on(.message(.upload([F.changeset(1), F.changeset(2), F.changeset(3)])))
        #expect(
            on(.uploaded([.duplicate, .duplicate, .duplicate])) == [
                "send end 5 frames 0 acknowledged 3 refused [1, 3]"
            ])
        _ = on(.message(.upload([F.changeset(4)])))
        _ = on(.uploaded([.applied(lost: 0)]))
        #expect(
            tell(F.live(6, key: nil, progress: ClientProgress(last: 4, refusals: []))) == [
                "send end 6 frames 0 acknowledged 4"
            ])
    }

    @Test("A tick that overtakes its upload's answer waits for it")
    mutating func earlyTick() {
        goLive()
        _ = on(.message(.upload([F.changeset(1)])))
        let tick = F.live(4, progress: ClientProgress(last: 1, refusals: []))
        #expect(tell(tick) == ["unfollow 1"])
        #expect(on(.uploaded([.applied(lost: 0)])) == ["follow 2 after 3"])
        let missed = session.catchUp(tick).map(\.text)
        #expect(missed == ["send 1 live", "send end 4 frames 1 acknowledged 1"])
    }

    @Test("A read that overtakes its upload's answer waits for it")
    mutating func earlyRead() {
        _ = open()
        _ = on(.message(.upload([F.changeset(1)])))
        #expect(on(.readFinished(F.end(4, acknowledged: 1), F.tick(4))).isEmpty)
        #expect(on(.uploaded([.applied(lost: 0)])) == ["send end 4 frames 0 acknowledged 1", "follow 1 after 4"])
    }

    @Test("An unknown base sends everything again and drops uploads sent before that")
    mutating func unknownBase() {
        goLive()
        _ = on(.message(.upload([F.changeset(1), F.changeset(2)])))
        #expect(
            on(.uploaded([.unknownBase, .gap(expected: 1)])) == [
                "unfollow 1", "read from nothing subscriptions 1 with other queries",
            ])
        #expect(on(.message(.upload([F.changeset(3)]))).isEmpty, "The device sent this before it was at the new tick.")
        _ = on(.readFinished(F.end(4, replacesAll: true), F.tick(4)))
        #expect(on(.message(.upload([F.changeset(1, base: 4)]))) == ["upload [1]"])
    }

    @Test("A gap after applied changesets resets the device")
    mutating func changesetGap() {
        goLive()
        _ = on(.message(.upload([F.changeset(1)])))
        _ = on(.uploaded([.applied(lost: 0)]))
        _ = on(.message(.upload([F.changeset(2)])))
        #expect(
            on(.uploaded([.gap(expected: 1)])) == ["unfollow 1", "send reset", "close"],
            "The server has lost changesets that it had applied.")
    }

    @Test("An upload that skips changesets is refused before the server applies it")
    mutating func skipping() {
        goLive()
        #expect(on(.message(.upload([F.changeset(2)]))) == ["unfollow 1", "send failure badMessage", "close"])
        session = ServerSession(schema: F.schema)
        goLive()
        #expect(
            on(.message(.upload([F.changeset(1), F.changeset(3)]))) == [
                "unfollow 1", "send failure badMessage", "close",
            ])
    }

    @Test("An upload that starts after the server's last changeset, not the acknowledged one, is refused with a reason")
    mutating func startingAfterTheServersLast() {
        _ = open(F.hello(acknowledged: 1), last: 3)
        guard case .send(.failure(let failure)) = session.handle(.message(.upload([F.changeset(4)]))).first else {
            return #expect(Bool(false))
        }
        #expect(failure.code == .badMessage)
        #expect(failure.message.contains("changeset 4 where 2 was expected"))
    }

    @Test("A device may repeat changesets it already sent on this connection")
    mutating func sendingAgain() {
        goLive()
        #expect(on(.message(.upload([F.changeset(1), F.changeset(2)]))) == ["upload [1, 2]"])
        #expect(on(.message(.upload([F.changeset(1), F.changeset(2), F.changeset(3)]))).isEmpty)
        #expect(on(.uploaded([.applied(lost: 0), .applied(lost: 0)])) == ["upload [1, 2, 3]"])
    }

    @Test("Too many waiting changesets end the session")
    mutating func tooManyWaiting() {
        goLive()
        _ = on(.message(.upload([F.changeset(1)])))
        let many = (2...Int64(ServerSession.maximumWaitingChangesets + 2)).map { F.changeset($0) }
        #expect(on(.message(.upload(many))) == ["unfollow 1", "send failure tooLarge", "close"])
    }

    @Test("A failure of the store is sent to the device before the session closes")
    mutating func executorFailure() {
        goLive()
        #expect(
            on(.failed(SessionFailure(.unavailable, "database", isRetryable: true))) == [
                "unfollow 1", "send failure unavailable", "close",
            ])
    }

    // MARK: A copied file

    @Test("The first batch waits until the device has proved its applied changesets")
    mutating func verifying() {
        #expect(open(last: 2) == ["send welcome last 2"])
        #expect(on(.message(.upload([F.changeset(1)]))) == ["upload [1]"])
        #expect(on(.uploaded([.duplicate])).isEmpty)
        #expect(on(.message(.upload([F.changeset(2)]))) == ["upload [2]"])
        #expect(on(.uploaded([.duplicate])) == ["read from 3 subscriptions 1"])
        #expect(on(.readFinished(F.end(4, acknowledged: 2), F.tick(4))).first == "send end 4 frames 0 acknowledged 2")
    }

    @Test("A copied device file is reset and keeps what it proved to be its own")
    mutating func copiedFile() {
        _ = open(last: 3)
        #expect(on(.message(.upload([F.changeset(1), F.changeset(2)]))) == ["upload [1, 2]"])
        #expect(
            on(.uploaded([.duplicate, .conflict])) == ["send end 3 frames 0 acknowledged 1", "send reset", "close"])
        session = ServerSession(schema: F.schema)
        _ = open(last: 3)
        _ = on(.message(.upload([F.changeset(1)])))
        _ = on(.uploaded([.duplicate]))
        #expect(
            on(.message(.upload([]))) == ["send end 3 frames 0 acknowledged 1", "send reset", "close"],
            "The device's queue ends before the server's.")
    }

    @Test("A device whose queue ends during verification is reset once the upload is answered")
    mutating func copyDuringUpload() {
        _ = open(last: 3)
        _ = on(.message(.upload([F.changeset(1)])))
        #expect(on(.message(.upload([]))).isEmpty)
        #expect(on(.uploaded([.duplicate])) == ["send end 3 frames 0 acknowledged 1", "send reset", "close"])
    }

    @Test("A conflict in a live session makes the device reconnect")
    mutating func liveConflict() {
        goLive()
        _ = on(.message(.upload([F.changeset(1)])))
        #expect(on(.uploaded([.conflict])) == ["unfollow 1", "send failure unavailable", "close"])
    }

    @Test("Progress made by another copy isn't acknowledged")
    mutating func foreignProgress() {
        goLive()
        let progress = ClientProgress(last: 1, refusals: [])
        #expect(tell(F.live(4, progress: progress)) == ["send 1 live", "send end 4 frames 1"])
        #expect(on(.message(.upload([F.changeset(1)]))) == ["upload [1]"])
        #expect(on(.uploaded([.duplicate])) == ["send end 4 frames 0 acknowledged 1"])
    }
}
