import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// What a session sends once it is live: ticks, batches for new subscriptions and roles, and restarted reads.
@Suite struct ServerSessionTickTests: ServerSessionTranscript {
    var session = ServerSession(schema: F.schema)

    // MARK: Live ticks

    @Test("A session asks for what came after its batch, and is told about each tick from then on")
    mutating func following() {
        _ = open()
        #expect(on(.readFinished(F.end(3), F.tick(3))) == ["send end 3 frames 0", "follow 1 after 3"])
        let missed = session.catchUp(F.live(4), F.live(5)).map(\.text)
        #expect(missed == ["send 1 live", "send end 4 frames 1", "send 1 live", "send end 5 frames 1"])
        #expect(tell(F.live(6)) == ["send 1 live", "send end 6 frames 1"])
    }

    @Test("Ticks with nothing visible to the device aren't sent")
    mutating func irrelevantTicks() {
        goLive(F.hello(active: F.groupOne, wanted: F.groupOne))
        #expect(tell(F.live(4, group: 2)).isEmpty)
        #expect(tell(F.live(5, group: 1)) == ["send 1 live", "send end 5 frames 1"])
    }

    @Test("Heartbeats move an idle device to the latest tick now and then")
    mutating func heartbeat() {
        goLive(F.hello(active: F.groupOne, wanted: F.groupOne))
        #expect(heartbeats(ServerSession.positionHeartbeats).isEmpty)
        _ = tell(F.live(4, group: 2))
        #expect(on(.heartbeat) == ["send end 4 frames 0"])
        _ = on(.message(.applied(tick: 4)))
        _ = tell(F.live(5, group: 2))
        #expect(heartbeats(ServerSession.positionHeartbeats - 1).isEmpty)
        #expect(on(.heartbeat) == ["send end 5 frames 0"])
        _ = tell(F.live(6, group: 2))
        #expect(heartbeats(ServerSession.positionHeartbeats).isEmpty, "The device must apply the last batch first.")
    }

    @Test("Ticks that the feed no longer has are read from the changelog, from the last one the session was told about")
    mutating func feedGap() {
        goLive(F.hello(active: F.groupOne, wanted: F.groupOne))
        _ = tell(F.live(4, group: 2))
        #expect(on(.ticksGone(1)) == ["read from 4 subscriptions 2"])
        session = ServerSession(schema: F.schema)
        _ = open()
        _ = on(.readFinished(F.end(3), F.tick(3)))
        #expect(on(.ticksGone(1)) == ["read from 3 subscriptions 1"])
    }

    @Test("A session whose ticks were matched aside then asks for those that follow")
    mutating func matchedAside() {
        _ = open()
        _ = on(.readFinished(F.end(3), F.tick(3)))
        let batches = LiveFeed<Int>.match([F.live(4)], with: session.liveView, client: F.client, schema: F.schema)
        #expect(
            on(.matched(1, batches, last: F.tick(5))) == ["send 1 live", "send end 4 frames 1", "follow 2 after 5"])
        #expect(on(.followingEnded(2)) == ["follow 3 after 5"])
    }

    @Test("A paused session isn't moved past the ticks that it isn't told about")
    mutating func pausing() {
        goLive()
        #expect(on(.followingPaused(1)) == ["unfollow 1"])
        session.reach(F.tick(4))
        #expect(on(.followingResumed) == ["follow 2 after 3"])
        #expect(on(.followingResumed).isEmpty)
        #expect(on(.followingPaused(1)).isEmpty, "The session has followed again since, under another number.")
        let missed = session.catchUp(F.live(4)).map(\.text)
        #expect(missed == ["send 1 live", "send end 4 frames 1"])
    }

    @Test("News from before the session stopped following doesn't count")
    mutating func staleNews() {
        goLive()
        let batches = LiveFeed<Int>.match([F.live(4)], with: session.liveView, client: F.client, schema: F.schema)
        #expect(
            on(.message(.subscribe(F.groupOne))) == ["unfollow 1", "read from 3 subscriptions 2 with other queries"])
        #expect(on(.live(1, batches[0])).isEmpty)
        session.reach(F.tick(9))
        #expect(
            on(.readFinished(F.end(5, subscriptions: 2), F.tick(5))) == ["send end 5 frames 0", "follow 2 after 5"])
        #expect(on(.live(1, batches[0])).isEmpty)
        #expect(on(.ticksGone(1)).isEmpty)
        session.reach(F.tick(9))
        #expect(on(.ticksGone(2)) == ["read from 5 subscriptions 2"], "It moves only after the feed's answer.")
    }

    @Test("A session that has moved on skips ticks it no longer needs")
    mutating func oldTicks() {
        _ = open()
        _ = on(.readFinished(F.end(3), F.tick(3)))
        let missed = session.catchUp(F.live(2), F.live(3), F.live(4)).map(\.text)
        #expect(missed == ["send 1 live", "send end 4 frames 1"])
    }

    @Test("A session whose connection was full is told again what it couldn't take")
    mutating func backpressure() {
        goLive()
        #expect(on(.writable(false)).isEmpty)
        #expect(on(.heartbeat).isEmpty)
        #expect(tell(F.live(4)) == ["unfollow 1"])
        #expect(on(.writable(true)) == ["follow 2 after 3"])
        let missed = session.catchUp(F.live(4)).map(\.text)
        #expect(missed == ["send 1 live", "send end 4 frames 1"])
    }

    @Test("A device that applies nothing gets a bounded number of batches")
    mutating func unappliedBatches() {
        goLive()
        var tick: Int64 = 3
        for _ in 0..<ServerSession.maximumUnappliedBatches {
            tick += 1
            #expect(tell(F.live(tick)).count == 2)
        }
        #expect(tell(F.live(tick + 1)) == ["unfollow 1"])
        #expect(on(.message(.applied(tick: 4))) == ["follow 2 after \(tick)"])
    }

    // MARK: Subscriptions and roles

    @Test("New subscriptions are read at once, and nothing else is sent in the meantime")
    mutating func newSubscriptions() {
        goLive()
        #expect(
            on(.message(.subscribe(F.groupOne))) == ["unfollow 1", "read from 3 subscriptions 2 with other queries"])
        #expect(tell(F.live(4)).isEmpty, "Nothing else is sent while a batch is read.")
        #expect(
            on(.readFinished(F.end(5, subscriptions: 2), F.tick(5))) == ["send end 5 frames 0", "follow 2 after 5"])
    }

    @Test("Subscriptions that change during a read are read next")
    mutating func subscribingDuringRead() {
        _ = open()
        #expect(on(.message(.subscribe(F.groupOne))).isEmpty)
        #expect(
            on(.readFinished(F.end(4), F.tick(4))) == [
                "send end 4 frames 0", "read from 4 subscriptions 2 with other queries",
            ])
    }

    @Test("A stale subscription set is ignored")
    mutating func staleSubscriptions() {
        goLive()
        #expect(on(.message(.subscribe(F.everything))).isEmpty)
    }

    @Test("When roles change, the difference is read, and again if they change during the read")
    mutating func changedRoles() {
        goLive()
        #expect(on(.authorityChanged(F.authority)) == ["unfollow 1", "read from 3 subscriptions 1"])
        #expect(on(.authorityChanged(F.authority)).isEmpty)
        #expect(on(.readFinished(F.end(4), F.tick(4))).last == "read from 4 subscriptions 1")
    }

    // MARK: A read that gives way

    @Test("A read that gave way starts again from what the device has")
    mutating func givingARead() {
        goLive()
        _ = on(.message(.subscribe(F.groupOne)))
        #expect(on(.readGivenUp) == ["read from 3 subscriptions 2 with other queries"])
        #expect(on(.readFinished(F.end(5, subscriptions: 2), F.tick(5))).first == "send end 5 frames 0")
        #expect(on(.readGivenUp).isEmpty)
    }

    @Test("A read that starts again uses the subscriptions and roles at that time")
    mutating func givingAReadUpWithNews() {
        _ = open()
        _ = on(.message(.subscribe(F.groupOne)))
        #expect(on(.readGivenUp) == ["read from 3 subscriptions 2 with other queries"])
        _ = on(.authorityChanged(F.authority))
        #expect(on(.readGivenUp) == ["read from 3 subscriptions 2 with other queries"])
    }
}
