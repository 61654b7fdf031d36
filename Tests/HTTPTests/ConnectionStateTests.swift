import NIOCore
import NIOHTTP1
import RandomValues
import Testing

@testable import TomboloHTTP

@Suite struct ConnectionStateTests {
    private static func head(
        _ path: String = "/", version: HTTPVersion = .http1_1, _ headers: HTTPHeaders = [:]
    ) -> HTTPServerRequestPart {
        .head(HTTPRequestHead(version: version, method: .POST, uri: path, headers: headers))
    }

    private static func body(_ byteCount: Int) -> HTTPServerRequestPart {
        .body(ByteBuffer(repeating: 1, count: byteCount))
    }

    /// The name of a connection's next step, without its bytes.
    private static func name(_ next: ConnectionState.Next) -> String {
        switch next {
        case .answer(let head, .whole(let body)): "\(head.uri) with \(body.readableBytes)"
        case .answer(let head, .streamed): "\(head.uri) streamed"
        case .refuse: "refuse"
        case .close: "close"
        case .wait: "wait"
        }
    }

    private static func name(_ part: ConnectionState.BodyPart) -> String {
        switch part {
        case .bytes(let bytes): "\(bytes.readableBytes)"
        case .end: "end"
        case .wait(let sendsContinue): sendsContinue ? "continue" : "wait"
        case .missing: "missing"
        }
    }

    /// Answers the request being handled.
    private static func answer(_ state: inout ConnectionState) {
        let keepsAlive = state.beginAnswer()
        state.endAnswer(keepsAlive: keepsAlive)
    }

    @Test("Pipelined requests are answered one after the other, with their bodies")
    func pipelining() {
        var state = ConnectionState()
        for part in [
            Self.head("/1"), .end(nil), Self.head("/2"), Self.body(3), Self.body(4), .end(nil), Self.head("/3"),
        ] {
            state.receive(part)
        }
        #expect(Self.name(state.takeRequest()) == "/1 with 0")
        #expect(Self.name(state.takeRequest()) == "wait")
        Self.answer(&state)
        #expect(Self.name(state.takeRequest()) == "/2 with 7")
        Self.answer(&state)
        #expect(Self.name(state.takeRequest()) == "/3 streamed")
        #expect(Self.name(state.takeBodyPart(of: 3)) == "wait")
        state.receive(Self.body(5))
        state.receive(.end(nil))
        #expect(Self.name(state.takeBodyPart(of: 3)) == "5")
        #expect(Self.name(state.takeBodyPart(of: 3)) == "end")
        #expect(Self.name(state.takeBodyPart(of: 3)) == "end")
        #expect(Self.name(state.takeBodyPart(of: 2)) == "missing", "This is another request's body.")
        Self.answer(&state)
        #expect(Self.name(state.takeRequest()) == "wait")
    }

    @Test("A body that nobody read is discarded, and the next request is served")
    func unreadBodies() {
        var state = ConnectionState()
        state.receive(Self.head("/1"))
        state.receive(Self.body(10))
        #expect(Self.name(state.takeRequest()) == "/1 streamed")
        Self.answer(&state)
        #expect(Self.name(state.takeRequest()) == "wait")
        state.receive(Self.body(ConnectionState.maximumWaitingByteCount))
        #expect(state.wantsMore && state.waitsForClient)
        for part in [.end(nil), Self.head("/2"), .end(nil)] { state.receive(part) }
        #expect(Self.name(state.takeRequest()) == "/2 with 0")
    }

    @Test("An unread body that doesn't end closes the connection")
    func endlessBodies() {
        var state = ConnectionState()
        state.receive(Self.head())
        _ = state.takeRequest()
        Self.answer(&state)
        let part = Self.body(1 << 20)
        for _ in 0..<ConnectionState.maximumDiscardedByteCount >> 20 {
            state.receive(part)
            #expect(Self.name(state.takeRequest()) == "wait")
        }
        state.receive(part)
        #expect(Self.name(state.takeRequest()) == "close")
        #expect(!state.hasReadEverything)
    }

    @Test("A client that waits for the status 100 gets it when its body is wanted")
    func continuing() {
        var state = ConnectionState()
        state.receive(Self.head("/1", ["Expect": "100-Continue"]))
        #expect(Self.name(state.takeRequest()) == "/1 streamed")
        #expect(Self.name(state.takeBodyPart(of: 1)) == "continue")
        #expect(Self.name(state.takeBodyPart(of: 1)) == "wait")
        state.receive(Self.body(1))
        state.receive(.end(nil))
        #expect(Self.name(state.takeBodyPart(of: 1)) == "1")
        #expect(Self.name(state.takeBodyPart(of: 1)) == "end")
        let staysOpen = state.beginAnswer()
        #expect(staysOpen)
    }

    @Test("A client that waits in vain for status 100 gets the answer, and needs a new connection for further requests")
    func refusedBeforeTheBody() {
        var state = ConnectionState()
        state.receive(Self.head("/1", ["Expect": "100-continue"]))
        _ = state.takeRequest()
        let staysOpen = state.beginAnswer()
        #expect(!staysOpen)
        #expect(Self.name(state.takeBodyPart(of: 1)) == "wait", "The final status has been sent.")
        state.endAnswer(keepsAlive: false)
        #expect(Self.name(state.takeRequest()) == "close")
    }

    @Test(
        "Whether a connection stays open depends on the version and the Connection header",
        arguments: [
            (HTTPVersion.http1_1, nil, true), (.http1_1, "close", false), (.http1_1, "Close", false),
            (.http1_0, nil, false), (.http1_0, "keep-alive", true),
        ])
    func keepAlive(_ version: HTTPVersion, _ value: String?, _ staysOpen: Bool) {
        var state = ConnectionState()
        state.receive(Self.head(version: version, value.map { ["Connection": $0] } ?? [:]))
        state.receive(.end(nil))
        _ = state.takeRequest()
        let isKept = state.beginAnswer()
        #expect(isKept == staysOpen)
        state.endAnswer(keepsAlive: staysOpen)
        #expect(Self.name(state.takeRequest()) == (staysOpen ? "wait" : "close"))
    }

    @Test(
        "A request to switch protocols is the last one: what follows isn't decoded",
        arguments: [HTTPMethod.GET, .CONNECT])
    func upgrades(_ method: HTTPMethod) {
        var state = ConnectionState()
        let headers: HTTPHeaders = method == .GET ? ["Connection": "Upgrade", "Upgrade": "h2c"] : [:]
        state.receive(.head(HTTPRequestHead(version: .http1_1, method: method, uri: "/", headers: headers)))
        state.receive(.end(nil))
        _ = state.takeRequest()
        let staysOpen = state.beginAnswer()
        #expect(!staysOpen)
    }

    @Test("A client that has closed its sending side still gets its answers")
    func halfClosed() {
        var state = ConnectionState()
        for part in [Self.head("/1"), .end(nil), Self.head("/2"), .end(nil)] { state.receive(part) }
        state.endInput()
        #expect(Self.name(state.takeRequest()) == "/1 with 0")
        Self.answer(&state)
        #expect(Self.name(state.takeRequest()) == "/2 with 0")
        Self.answer(&state)
        #expect(Self.name(state.takeRequest()) == "close")
    }

    @Test("Anything that isn't HTTP is refused after the answers in flight, and only once")
    func malformed() {
        var state = ConnectionState()
        state.receive(Self.head("/1"))
        state.receive(.end(nil))
        state.endInput(HTTPParserError.invalidMethod)
        #expect(Self.name(state.takeRequest()) == "/1 with 0")
        Self.answer(&state)
        #expect(Self.name(state.takeRequest()) == "refuse")
        #expect(Self.name(state.takeRequest()) == "close")
    }

    @Test("A body that breaks off fails where it is read, and closes the connection", arguments: [false, true])
    func brokenBodies(_ isMalformed: Bool) {
        var state = ConnectionState()
        state.receive(Self.head("/1"))
        state.receive(Self.body(2))
        state.endInput(isMalformed ? HTTPParserError.invalidChunkSize : nil)
        #expect(Self.name(state.takeRequest()) == "/1 streamed")
        #expect(Self.name(state.takeBodyPart(of: 1)) == "2")
        #expect(Self.name(state.takeBodyPart(of: 1)) == "missing")
        Self.answer(&state)
        #expect(Self.name(state.takeRequest()) == "close")
    }

    @Test("A server that is shutting down answers what has arrived, and nothing else")
    func quiescing() {
        var state = ConnectionState()
        for part in [Self.head("/1"), .end(nil), Self.head("/2"), .end(nil)] { state.receive(part) }
        _ = state.takeRequest()
        state.quiesce()
        let staysOpen = state.beginAnswer()
        #expect(staysOpen)
        state.endAnswer(keepsAlive: true)
        #expect(Self.name(state.takeRequest()) == "/2 with 0")
        let isKept = state.beginAnswer()
        #expect(!isKept, "The last answer must announce that it's the last.")
        state.endAnswer(keepsAlive: false)
        #expect(Self.name(state.takeRequest()) == "close")
        var idle = ConnectionState()
        idle.quiesce()
        #expect(Self.name(idle.takeRequest()) == "close")
    }

    @Test("A server that is shutting down doesn't wait for bodies that nobody wanted", arguments: 0..<3)
    func quiescingWithUnreadBodies(_ moment: Int) {
        var state = ConnectionState()
        state.receive(Self.head())
        _ = state.takeRequest()
        if moment == 0 { state.quiesce() }
        let staysOpen = state.beginAnswer()
        #expect(staysOpen == (moment > 0))
        if moment == 1 { state.quiesce() }
        state.endAnswer(keepsAlive: staysOpen)
        if moment == 2 { state.quiesce() }
        #expect(Self.name(state.takeRequest()) == "close")
        #expect(!state.hasReadEverything)
    }

    @Test("A request that arrives during shutdown isn't answered, and doesn't reset the connection")
    func tooLate() {
        var state = ConnectionState()
        for part in [Self.head("/1"), .end(nil)] { state.receive(part) }
        _ = state.takeRequest()
        state.quiesce()
        for part in [Self.head("/2"), Self.body(1), .end(nil)] { state.receive(part) }
        let staysOpen = state.beginAnswer()
        state.endAnswer(keepsAlive: staysOpen)
        #expect(!staysOpen)
        #expect(Self.name(state.takeRequest()) == "close")
        #expect(!state.hasReadEverything)
    }

    @Test("A chunked HTTP/1.0 request is the last one: what follows may be part of its body")
    func oldChunks() {
        var state = ConnectionState()
        state.receive(Self.head(version: .http1_0, ["Connection": "keep-alive", "Transfer-Encoding": "chunked"]))
        state.receive(.end(nil))
        _ = state.takeRequest()
        let staysOpen = state.beginAnswer()
        #expect(!staysOpen)
    }

    @Test("A closing connection keeps reading, however much is waiting")
    func closing() {
        var state = ConnectionState()
        state.receive(Self.head())
        _ = state.takeRequest()
        state.receive(Self.body(ConnectionState.maximumWaitingByteCount))
        #expect(!state.wantsMore)
        state.close()
        state.receive(Self.body(ConnectionState.maximumWaitingByteCount))
        #expect(state.wantsMore)
        #expect(Self.name(state.takeRequest()) == "close")
    }

    @Test("Reading stops while enough is waiting, and the client isn't blamed for the pause")
    func backpressure() {
        var state = ConnectionState()
        state.receive(Self.head())
        _ = state.takeRequest()
        state.receive(Self.body(ConnectionState.maximumWaitingByteCount))
        #expect(!state.wantsMore && !state.waitsForClient)
        _ = state.takeBodyPart(of: 1)
        #expect(state.wantsMore && state.waitsForClient)
        for _ in 0..<ConnectionState.maximumWaitingPartCount { state.receive(Self.body(1)) }
        #expect(!state.wantsMore)
    }

    /// Random clients, checked against a plain list of what they sent.
    @Test(arguments: 0..<300 as Range<UInt64>)
    func `Every request is answered once, in order, with its whole body`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var state = ConnectionState()
        let requests = (0..<Int.random(in: 1...8, using: &random)).map { number in
            (
                path: "/\(number)",
                parts: (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    Int.random(in: 1...50_000, using: &random)
                }
            )
        }
        var sent = requests.flatMap { request in
            [Self.head(request.path)] + request.parts.map { Self.body($0) } + [.end(nil)]
        }[...]
        var answered: [String] = []
        var current: (path: String, byteCount: Int)?
        func finish() {
            answered.append("\(current?.path ?? "") \(current?.byteCount ?? 0)")
            current = nil
            Self.answer(&state)
        }
        var steps = 0
        while answered.count < requests.count {
            steps += 1
            guard steps < 10_000 else {
                Issue.record("seed \(seed): only \(answered) were answered")
                return
            }
            if Bool.random(using: &random), state.wantsMore, let part = sent.popFirst() { state.receive(part) }
            if sent.isEmpty, Int.random(in: 0..<5, using: &random) == 0 { state.endInput() }
            if current == nil {
                switch state.takeRequest() {
                case .answer(let head, .whole(let body)):
                    current = (head.uri, body.readableBytes)
                    finish()
                case .answer(let head, .streamed): current = (head.uri, 0)
                case .wait: break
                case .refuse, .close:
                    Issue.record("seed \(seed): closed after \(answered)")
                    return
                }
            } else {
                switch state.takeBodyPart(of: answered.count + 1) {
                case .bytes(let bytes): current?.byteCount += bytes.readableBytes
                case .end: finish()
                case .wait: break
                case .missing:
                    Issue.record("seed \(seed): a body broke off after \(answered)")
                    return
                }
            }
        }
        #expect(answered == requests.map { "\($0.path) \($0.parts.reduce(0, +))" }, "seed \(seed)")
    }
}
