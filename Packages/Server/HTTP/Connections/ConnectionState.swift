import NIOCore
import NIOHTTP1

/// The requests that have arrived on one HTTP/1 connection, and what happens to them next. It does no I/O: a
/// ``ConnectionHandler`` tells it what arrives, and does what it says.
///
/// Requests are answered one after the other. Those that a client sends before it has read the previous answer
/// (pipelining) wait here.
struct ConnectionState {
    /// Once this many bytes of bodies wait to be used, nothing more is read from the connection.
    static let maximumWaitingByteCount = 64 << 10
    /// The same for the number of heads, parts of bodies, and ends that wait.
    static let maximumWaitingPartCount = 64
    /// How much of a body that nobody wanted is read all the same, in bytes. A client that sends its whole body before
    /// it reads the answer gets the answer that way. After that the connection is closed.
    static let maximumDiscardedByteCount = 64 << 20

    /// What to do when the connection is free for the next request.
    enum Next: Sendable {
        case answer(HTTPRequestHead, Body)
        /// Refuse what arrived, since it isn't HTTP, and close the connection.
        case refuse
        case close
        case wait
    }

    enum Body: Sendable {
        /// All of it has arrived.
        case whole(ByteBuffer)
        /// ``takeBodyPart(of:)`` returns it piece by piece, for this number of the request.
        case streamed(Int)
    }

    enum BodyPart {
        case bytes(ByteBuffer)
        case end
        /// - Parameter sendsContinue: whether the client waits for the status 100 before it sends the body.
        case wait(sendsContinue: Bool)
        /// The rest will never arrive.
        case missing(any Error)
    }

    private enum Input {
        case open
        case ended
        case malformed(any Error)
    }

    private struct Exchange {
        let number: Int
        let keepsAlive: Bool
        /// Whether the client waits for the status 100, and hasn't got it.
        var expectsContinue = false
        var hasReadBody: Bool
        var hasBegunAnswer = false
        var isAnswered = false
        var discardedByteCount = 0
    }

    private enum Phase {
        case betweenRequests
        case answering(Exchange)
        case closing
    }

    private var phase = Phase.betweenRequests
    private var input = Input.open
    private var parts = CircularBuffer<HTTPServerRequestPart>()
    private var waitingByteCount = 0
    /// Whether the head of a request has arrived, and its end hasn't.
    private var isReceiving = false
    private var isQuiescing = false
    /// Whether a request came too late to be answered.
    private var ignoresInput = false
    private var requestCount = 0

    // MARK: What arrives

    mutating func receive(_ part: HTTPServerRequestPart) {
        if isQuiescing, case .head = part { ignoresInput = true }
        guard !ignoresInput else { return }
        switch part {
        case .head: isReceiving = true
        case .body: break
        case .end: isReceiving = false
        }
        switch phase {
        case .closing: break
        // The rest of a body that nobody wanted.
        case .answering(var exchange) where exchange.isAnswered: discard(part, &exchange)
        case .betweenRequests, .answering: append(part)
        }
    }

    /// Notes that nothing more arrives.
    /// - Parameter error: why what arrived last isn't HTTP; nil if the client has ended its side of the connection.
    mutating func endInput(_ error: (any Error)? = nil) {
        guard case .open = input else { return }
        input = error.map { .malformed($0) } ?? .ended
        if isDiscarding { close() }
    }

    /// Notes that the server is shutting down: the requests that have arrived are answered, and no others.
    mutating func quiesce() {
        isQuiescing = true
        if isDiscarding { close() }
    }

    /// Answers nothing more. What has arrived, and what still arrives, is thrown away.
    mutating func close() {
        phase = .closing
        parts.removeAll()
        waitingByteCount = 0
    }

    // MARK: Requests

    /// The next request, if the previous one is done with.
    mutating func takeRequest() -> Next {
        switch phase {
        case .closing: return .close
        case .answering: return .wait
        case .betweenRequests: break
        }
        guard let part = removeFirst() else {
            switch input {
            case .open where !isQuiescing: return .wait
            case .open, .ended:
                close()
                return .close
            case .malformed:
                close()
                return .refuse
            }
        }
        guard case .head(let head) = part else {
            close()
            return .refuse
        }
        requestCount += 1
        var exchange = Exchange(number: requestCount, keepsAlive: Self.keepsAlive(head), hasReadBody: true)
        if let body = takeWholeBody() {
            phase = .answering(exchange)
            return .answer(head, .whole(body))
        }
        exchange.hasReadBody = false
        exchange.expectsContinue =
            head.version == .http1_1
            && head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
        phase = .answering(exchange)
        return .answer(head, .streamed(requestCount))
    }

    private static func keepsAlive(_ head: HTTPRequestHead) -> Bool {
        // NIO's decoder stops at a request for another protocol, which isn't spoken here.
        if head.method == .CONNECT || head.headers.contains(name: "upgrade") { return false }
        // RFC 9112, section 6.1: what follows may be meant as part of the body.
        if head.version == .http1_0, head.headers.contains(name: "transfer-encoding") { return false }
        return head.isKeepAlive
    }

    /// The next part of the body of the request that is being answered.
    /// - Parameter number: the request's number, from ``Body/streamed(_:)``. The body of an earlier one can't be read.
    mutating func takeBodyPart(of number: Int) -> BodyPart {
        guard case .answering(var exchange) = phase, exchange.number == number else {
            return .missing(CancellationError())
        }
        guard !exchange.hasReadBody else { return .end }
        let part = removeFirst()
        if part != nil { exchange.expectsContinue = false }
        defer { phase = .answering(exchange) }
        switch part {
        case .body(let bytes): return .bytes(bytes)
        case .end, .head:
            exchange.hasReadBody = true
            return .end
        case nil: break
        }
        switch input {
        case .open:
            let sendsContinue = exchange.expectsContinue && !exchange.hasBegunAnswer
            if sendsContinue { exchange.expectsContinue = false }
            return .wait(sendsContinue: sendsContinue)
        case .ended: return .missing(HTTPParserError.invalidEOFState)
        case .malformed(let error): return .missing(error)
        }
    }

    /// Notes that the head of the answer is being sent. From then on it is too late for the status 100.
    /// - Returns: whether another request may follow on the connection.
    mutating func beginAnswer() -> Bool {
        guard case .answering(var exchange) = phase else { return false }
        exchange.hasBegunAnswer = true
        phase = .answering(exchange)
        // A client that still waits for the status 100 may send its body now, or another request: nobody knows which.
        guard exchange.keepsAlive, !exchange.expectsContinue else { return false }
        return !isQuiescing || (exchange.hasReadBody && !parts.isEmpty)
    }

    /// Notes that the answer has been sent.
    /// - Parameter keepsAlive: whether the answer's head promised that another request may follow.
    mutating func endAnswer(keepsAlive: Bool) {
        guard case .answering(var exchange) = phase else { return }
        exchange.isAnswered = true
        guard keepsAlive else { return close() }
        guard !exchange.hasReadBody else { return phase = .betweenRequests }
        phase = .answering(exchange)
        while case .answering(var exchange) = phase, let part = removeFirst() { discard(part, &exchange) }
        guard isDiscarding else { return }
        if case .open = input, !isQuiescing { return }
        close()
    }

    // MARK: The connection

    /// Whether there is room for more.
    var wantsMore: Bool {
        waitingByteCount < Self.maximumWaitingByteCount && parts.count < Self.maximumWaitingPartCount
    }

    /// Whether the client has to do something next. If it does nothing for long, the connection is closed.
    var waitsForClient: Bool {
        guard case .answering(let exchange) = phase else { return true }
        return !exchange.hasReadBody && wantsMore && !hasBodyEnd
    }

    /// Whether nothing that the client has sent is left unread. Closing a connection with unread bytes resets it, and
    /// its client may lose the end of the answer.
    var hasReadEverything: Bool {
        switch input {
        case .open: !isReceiving && !ignoresInput && parts.isEmpty
        case .ended: true
        case .malformed: false
        }
    }

    // MARK: Parts

    /// Whether the rest of a request, from the first part that waits, has arrived. Most requests have no body, so that
    /// their end is first.
    private var hasBodyEnd: Bool { parts.contains { if case .end = $0 { true } else { false } } }

    /// Whether the rest of a body is thrown away, since its request is answered.
    private var isDiscarding: Bool {
        if case .answering(let exchange) = phase { exchange.isAnswered } else { false }
    }

    /// A body that has arrived with its end, right after the head that was just taken; nil if it hasn't.
    private mutating func takeWholeBody() -> ByteBuffer? {
        guard hasBodyEnd else { return nil }
        var whole = ByteBuffer()
        while case .body(var bytes) = removeFirst() {
            if whole.readableBytes == 0 { whole = bytes } else { whole.writeBuffer(&bytes) }
        }
        return whole
    }

    private mutating func append(_ part: HTTPServerRequestPart) {
        if case .body(let bytes) = part { waitingByteCount += bytes.readableBytes }
        parts.append(part)
    }

    private mutating func removeFirst() -> HTTPServerRequestPart? {
        let part = parts.popFirst()
        if case .body(let bytes) = part { waitingByteCount -= bytes.readableBytes }
        return part
    }

    /// Throws away a part of a body that the answer made unnecessary.
    private mutating func discard(_ part: HTTPServerRequestPart, _ exchange: inout Exchange) {
        switch part {
        case .head: break
        case .body(let bytes):
            exchange.discardedByteCount += bytes.readableBytes
            phase = .answering(exchange)
            if exchange.discardedByteCount > Self.maximumDiscardedByteCount { close() }
        case .end: phase = .betweenRequests
        }
    }
}
