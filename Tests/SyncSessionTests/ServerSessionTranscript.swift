import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// A transcript of the gateway's side: events in, actions out, as texts.
protocol ServerSessionTranscript {
    var session: ServerSession { get set }
}

extension ServerSessionTranscript {
    mutating func on(_ event: ServerSession.Event) -> [String] { session.handle(event).map(\.text) }

    mutating func tell(_ tick: LiveTick) -> [String] { session.tell(tick).map(\.text) }

    /// Plays everything up to the first read.
    mutating func open(
        _ hello: Hello = F.hello(), last: Int64 = 0, check: ServerSession.PositionCheck = .valid(F.tick(3)),
        authority: SessionAuthority = F.authority
    ) -> [String] {
        _ = on(.message(.hello(hello)))
        _ = on(.authenticated(authority))
        return on(.opened(ClientOpening(last: last, serverTime: Stamp(microseconds: 1)), check))
    }

    /// Plays everything up to the end of the first batch, at tick 3.
    mutating func goLive(_ hello: Hello = F.hello()) {
        _ = open(hello)
        _ = on(.readFinished(F.end(3), F.tick(3)))
        _ = session.catchUp()
        _ = on(.message(.applied(tick: 3)))
    }

    /// Opens the session and returns its first read.
    mutating func reading(_ authority: SessionAuthority = F.authority) -> ReadRequest? {
        _ = session.handle(.message(.hello(F.hello())))
        _ = session.handle(.authenticated(authority))
        let opening = ClientOpening(last: 0, serverTime: Stamp(microseconds: 1))
        return session.handle(.opened(opening, .valid(F.tick(3)))).lazy.compactMap {
            if case .read(let request) = $0 { request } else { nil }
        }.first
    }

    mutating func heartbeats(_ count: Int) -> [String] {
        for _ in 1..<count { #expect(on(.heartbeat).isEmpty) }
        return on(.heartbeat)
    }
}
