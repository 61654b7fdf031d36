import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// How a session opens: from which position, and with which batch. The other suites of `ServerSession` continue from there.
@Suite struct ServerSessionTests: ServerSessionTranscript {
    var session = ServerSession(schema: F.schema)

    // MARK: Opening

    @Test("A session authenticates, opens and reads its first batch")
    mutating func opening() {
        #expect(on(.message(.hello(F.hello()))) == ["authenticate token"])
        #expect(on(.authenticated(F.authority)) == ["open 7 user acknowledged 0 at 3"])
        #expect(
            on(.opened(ClientOpening(last: 0, serverTime: Stamp(microseconds: 1)), .valid(F.tick(3)))) == [
                "send welcome last 0", "read from 3 subscriptions 1",
            ])
        #expect(on(.readFinished(F.end(4, frames: 1), F.tick(4))) == ["send end 4 frames 1", "follow 1 after 4"])
    }

    @Test("A device that only lacks ticks gets them from the feed, and its first batch without a read")
    mutating func resuming() {
        let hello = F.hello(position: F.position(3))
        #expect(open(hello) == ["send welcome last 0", "follow 1 after 3"])
        #expect(session.catchUp().map(\.text) == ["send end 3 frames 0"])
        #expect(tell(F.live(4)) == ["send 1 live", "send end 4 frames 1"])
        session = ServerSession(schema: F.schema)
        _ = open(hello)
        let missed = session.catchUp(F.live(4), F.live(5)).map(\.text)
        #expect(missed == ["send 1 live", "send end 4 frames 1", "send 1 live", "send end 5 frames 1"])
        #expect(tell(F.live(6)) == ["send 1 live", "send end 6 frames 1"])
    }

    @Test("A session whose ticks the feed no longer has reads the changelog")
    mutating func resumingLate() {
        _ = open(F.hello(position: F.position(3)))
        #expect(on(.ticksGone(1)) == ["read from 3 subscriptions 1"])
        #expect(on(.readFinished(F.end(5), F.tick(5))) == ["send end 5 frames 0", "follow 2 after 5"])
        #expect(session.catchUp().isEmpty)
    }

    @Test("A device that the feed keeps waiting still gets its first batch")
    mutating func resumingAfterPause() {
        _ = open(F.hello(position: F.position(3)))
        #expect(on(.followingPaused(1)) == ["unfollow 1"])
        #expect(on(.followingResumed) == ["follow 2 after 3"])
        #expect(session.catchUp().map(\.text) == ["send end 3 frames 0"])
        session = ServerSession(schema: F.schema)
        _ = open(F.hello(position: F.position(3)))
        let first = LiveFeed<Int>.match(
            [F.live(4, group: 2)], with: session.liveView, client: F.client, schema: F.schema)
        #expect(on(.matched(1, first, last: F.tick(4))).contains { $0.hasPrefix("send end 4") })
    }

    @Test(
        "A first batch is read if more than ticks may be missing",
        arguments: ["unacknowledged", "subscriptions", "roles", "classes"])
    mutating func notResuming(_ what: String) {
        var position = F.position(3)
        var hello = F.hello(position: position)
        var last: Int64 = 0
        switch what {
        case "unacknowledged": last = 1
        case "subscriptions": hello.wantedSubscriptions = F.groupOne
        case "roles": position.rulesFingerprint = 6
        default: position.schemaFingerprint = 6
        }
        hello.position = position
        let actions = open(hello, last: last)
        #expect(!actions.contains { $0.hasPrefix("follow") })
    }

    @Test("Everything is read again after a dropped position, changed rules or a changed schema")
    mutating func unusablePosition() {
        #expect(
            open(check: .expired) == [
                "send welcome last 0 expired", "read from nothing subscriptions 1 with other queries",
            ])
        session = ServerSession(schema: F.schema)
        let changed = SessionAuthority(
            user: "user", rulesFingerprint: 6, readable: { _ in .constant(true) }, permit: { _ in nil })
        #expect(open(authority: changed).last == "read from nothing subscriptions 1 with other queries")
        session = ServerSession(schema: F.schema)
        var otherSchema = F.position(3)
        otherSchema.schemaFingerprint = 1
        #expect(open(F.hello(position: otherSchema)).last == "read from nothing subscriptions 1 with other queries")
    }

    @Test("A device that returns under other rules gets the difference from what it could read before")
    mutating func formerRules() {
        let now = SessionAuthority(
            user: "user", rulesFingerprint: 6,
            readable: { _ in .compare(PropertyPath("group"), .equal, .int(1)) }, permit: { _ in nil })
        _ = on(.message(.hello(F.hello())))
        _ = on(.authenticated(now))
        let opening = ClientOpening(last: 0, serverTime: Stamp(microseconds: 1))
        #expect(
            on(.opened(opening, .valid(F.tick(3)), formerly: [0: .constant(true)])).last
                == "read from 3 subscriptions 1 with other queries")
    }

    @Test("Subscriptions that changed offline are read as a difference")
    mutating func offlineSubscriptions() {
        #expect(open(F.hello(wanted: F.groupOne)).last == "read from 3 subscriptions 2 with other queries")
    }

    @Test("A position from another history resets the device")
    mutating func foreignHistory() {
        #expect(open(check: .foreign) == ["send reset", "close"])
        #expect(session.isClosed)
    }

    @Test("A device from another history is first told which changesets it has proved the server to have")
    mutating func foreignHistoryWithUploads() {
        _ = open(last: 1, check: .foreign)
        #expect(on(.message(.upload([F.changeset(1)]))) == ["upload [1]"])
        #expect(on(.uploaded([.duplicate])) == ["send end 3 frames 0 acknowledged 1", "send reset", "close"])
    }

    @Test("A client that the store says must reset is reset")
    mutating func mustReset() {
        _ = on(.message(.hello(F.hello())))
        _ = on(.authenticated(F.authority))
        let opening = ClientOpening(last: 0, serverTime: Stamp(microseconds: 1), mustReset: "another user")
        #expect(on(.opened(opening, .valid(F.tick(3)))) == ["send reset", "close"])
    }

    @Test(
        "A session speaks the device's protocol version",
        arguments: ProtocolVersion.oldest...ProtocolVersion.current)
    mutating func version(version: Int) {
        var hello = F.hello()
        hello.protocolVersion = version
        _ = on(.message(.hello(hello)))
        _ = on(.authenticated(F.authority))
        let opening = ClientOpening(last: 0, serverTime: Stamp(microseconds: 1), mustReset: nil)
        guard case .send(.welcome(let welcome)) = session.handle(.opened(opening, .valid(F.tick(3)))).first else {
            return #expect(Bool(false))
        }
        #expect(welcome.protocolVersion == version)
    }

    @Test("A message out of turn ends the session")
    mutating func outOfTurn() {
        #expect(on(.message(.applied(tick: 1))) == ["send failure badMessage", "close"])
        session = ServerSession(schema: F.schema)
        _ = on(.message(.hello(F.hello())))
        #expect(on(.message(.upload([F.changeset(1)]))) == ["send failure badMessage", "close"])
        session = ServerSession(schema: F.schema)
        goLive()
        #expect(on(.message(.hello(F.hello()))) == ["unfollow 1", "send failure badMessage", "close"])
        #expect(tell(F.live(4)).isEmpty)
    }

    // MARK: Positions

    @Test("A position is valid, dropped or foreign according to its tick")
    func positions() {
        let latest = F.tick(9)
        #expect(ServerSession.PositionCheck(.none, known: .origin, latest: latest) == ServerSession.PositionCheck.none)
        #expect(ServerSession.PositionCheck(F.position(3), known: F.tick(3), latest: latest) == .valid(F.tick(3)))
        #expect(ServerSession.PositionCheck(F.position(3), known: nil, latest: latest) == .expired)
        #expect(ServerSession.PositionCheck(F.position(10), known: nil, latest: latest) == .foreign)
        var other = F.position(3)
        other.token += 1
        #expect(ServerSession.PositionCheck(other, known: F.tick(3), latest: latest) == .foreign)
    }
}
