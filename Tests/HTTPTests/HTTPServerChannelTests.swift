import Foundation
import Hummingbird
import NIOCore
import NIOPosix
import ServiceTestSupport
import Testing

@testable import TomboloHTTP

/// HTTP/1 as all kinds of clients speak it, over real connections.
@Suite(.timeLimit(.minutes(15))) struct HTTPServerChannelTests {
    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private static let blockByteCount = 6_000

    private static var limits: HTTPLimits {
        var limits = HTTPLimits.patient
        limits.idleTimeout = .seconds(600)
        limits.bodyBytes = 1 << 20
        return limits
    }

    private static func withServer(
        _ limits: HTTPLimits = limits, log: LogRecorder = LogRecorder(),
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await application(limits: limits, log: log) { routes in
            routes.on(.get, "/hello", access: .open(because: "test")) { _, _, _ in "hello" }
            routes.on(.get, "/block", access: .open(because: "test")) { _, _, _ in
                String(repeating: "x", count: blockByteCount)
            }
            routes.on(.get, "/empty", access: .open(because: "test")) { _, _, _ in HTTPResponse.Status.noContent }
            routes.on(.post, "/echo", access: .open(because: "test")) { request, context, _ in
                Response(
                    status: .ok,
                    body: ResponseBody(byteBuffer: try await request.body.collect(upTo: context.limits.bodyBytes)))
            }
            routes.on(.post, "/ignore", access: .open(because: "test")) { _, _, _ in "ignored" }
            routes.on(.post, "/through", access: .open(because: "test")) { request, _, _ in
                Response(
                    status: .ok,
                    body: ResponseBody { writer in
                        for try await part in request.body { try await writer.write(part) }
                        try await writer.finish(nil)
                    })
            }
            routes.on(.get, "/stream", access: .open(because: "test")) { _, _, _ in
                Response(
                    status: .ok,
                    body: ResponseBody { writer in
                        for part in ["one", "two"] { try await writer.write(ByteBuffer(string: part)) }
                        try await writer.finish(nil)
                    })
            }
            for (path, count) in [("/short", 10), ("/long", 2)] {
                routes.on(.get, path, access: .open(because: "test")) { _, _, _ in
                    Response(
                        status: .ok,
                        body: ResponseBody(contentLength: count) { writer in
                            try await writer.write(ByteBuffer(string: "12345"))
                            try await writer.finish(nil)
                        })
                }
            }
        }.live(body)
    }

    private static func connect(_ port: Int) async throws -> Connection {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try Connection(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
    }

    /// Sends pieces one by one, and reads until the server closes or the text satisfies `isEnough`.
    private static func talk(
        _ port: Int, _ pieces: [String], endsInput: Bool = false,
        until isEnough: (String) -> Bool = { _ in false }
    ) async throws -> String {
        try await connect(port).executeThenClose { inbound, outbound in
            for piece in pieces { try await outbound.write(ByteBuffer(string: piece)) }
            if endsInput { outbound.finish() }
            var text = ""
            do {
                for try await buffer in inbound {
                    text += String(buffer: buffer)
                    if isEnough(text) { break }
                }
            } catch {}
            return text
        }
    }

    private static func request(
        _ line: String, _ headers: [String] = [], version: String = "HTTP/1.1", body: String = ""
    ) -> String {
        (["\(line) \(version)", "Host: test"] + headers).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// The bodies of several answers with `Content-Length`.
    private static func bodies(_ text: String) -> [String] {
        var (bodies, rest): ([String], Substring) = ([], text[...])
        while let end = rest.range(of: "\r\n\r\n") {
            let head = rest[..<end.lowerBound].lowercased()
            let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
                .flatMap { Int($0.dropFirst(16)) }
            rest = rest[end.upperBound...]
            bodies.append(String(rest.prefix(length ?? 0)))
            rest = rest.dropFirst(length ?? 0)
        }
        return bodies
    }

    @Test("Pipelined requests are answered in order, and the last one closes the connection")
    func pipelining() async throws {
        try await Self.withServer { port in
            let numbers = (0..<200).map { "\($0)" }
            let requests = numbers.map {
                Self.request("POST /echo", ["Content-Length: \($0.utf8.count)"], body: $0)
            }
            let text = try await Self.talk(
                port, [requests.joined() + Self.request("GET /hello", ["Connection: close"])])
            #expect(Self.bodies(text) == numbers + ["hello"])
            #expect(text.contains("\r\nConnection: close\r\n"))
        }
    }

    @Test("Requests that arrive byte by byte are parsed", arguments: [true, false])
    func byteByByte(_ isChunked: Bool) async throws {
        try await Self.withServer { port in
            let body = isChunked ? "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: z\r\n\r\n" : "abcde"
            let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 5"
            let text = Self.request("POST /echo", [framing, "Connection: close"], body: body)
            let answer = try await Self.talk(port, text.map { String($0) })
            #expect(Self.bodies(answer) == ["abcde"], "\(answer)")
        }
    }

    @Test("An answer to HEAD has GET's headers and no body, and the connection stays open")
    func head() async throws {
        try await Self.withServer { port in
            let text = try await Self.talk(
                port,
                [
                    Self.request("HEAD /hello"), Self.request("HEAD /stream"), Self.request("GET /empty"),
                    Self.request("GET /hello", ["Connection: close"]),
                ])
            #expect(text.components(separatedBy: "HTTP/1.1 ").count == 5, "\(text)")
            #expect(text.components(separatedBy: "hello").count == 2 && text.hasSuffix("hello"), "\(text)")
            #expect(!text.contains("0\r\n\r\n0") && !text.contains("one"), "\(text)")
        }
    }

    @Test("An HTTP/1.0 client gets streams without chunks and a closed connection, unless it asks to keep it")
    func oldClients() async throws {
        try await Self.withServer { port in
            let stream = try await Self.talk(port, [Self.request("GET /stream", version: "HTTP/1.0")])
            #expect(stream.hasSuffix("\r\n\r\nonetwo") && !stream.lowercased().contains("chunked"), "\(stream)")
            let once = try await Self.talk(port, [Self.request("GET /hello", version: "HTTP/1.0")])
            #expect(once.hasSuffix("hello") && once.contains("Connection: close"))
            let twice = try await Self.talk(
                port,
                [
                    Self.request("GET /hello", ["Connection: keep-alive"], version: "HTTP/1.0"),
                    Self.request("GET /hello", version: "HTTP/1.0"),
                ])
            #expect(Self.bodies(twice) == ["hello", "hello"] && twice.contains("Connection: keep-alive"))
        }
    }

    @Test("A stream to an HTTP/1.0 client ends with a reset only if it breaks off", arguments: [true, false])
    func brokenStream(_ isBroken: Bool) async throws {
        struct Broken: Error {}
        let (heard, hears) = AsyncStream.makeStream(of: Void.self)
        try await application(limits: Self.limits, log: LogRecorder()) { routes in
            routes.on(.get, "/stream", access: .open(because: "test")) { _, _, _ in
                Response(
                    status: .ok,
                    body: ResponseBody { writer in
                        try await writer.write(ByteBuffer(string: "one"))
                        // A reset throws away what its client hasn't read yet.
                        for await _ in heard { break }
                        guard !isBroken else { throw Broken() }
                        try await writer.write(ByteBuffer(string: "two"))
                        try await writer.finish(nil)
                    })
            }
        }.live { port in
            try await Self.connect(port).executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: Self.request("GET /stream", version: "HTTP/1.0")))
                var text = ""
                var end: IOError?
                do {
                    for try await buffer in inbound {
                        text += String(buffer: buffer)
                        if text.hasSuffix("one") { hears.yield() }
                    }
                } catch let error as IOError {
                    end = error
                }
                #expect(text.hasSuffix(isBroken ? "\r\n\r\none" : "\r\n\r\nonetwo"), "\(text)")
                #expect(end?.errnoCode == (isBroken ? ECONNRESET : nil))
            }
        }
    }

    @Test("A stream is sent in chunks")
    func chunks() async throws {
        try await Self.withServer { port in
            let text = try await Self.talk(port, [Self.request("GET /stream", ["Connection: close"])])
            #expect(text.hasSuffix("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"), "\(text)")
        }
    }

    @Test("A client that waits for status 100 gets it before it sends the body")
    func continuing() async throws {
        try await Self.withServer { port in
            try await Self.connect(port).executeThenClose { inbound, outbound in
                let head = Self.request(
                    "POST /echo", ["Content-Length: 5", "Expect: 100-continue", "Connection: close"])
                try await outbound.write(ByteBuffer(string: head))
                var (text, hasSent) = ("", false)
                for try await buffer in inbound {
                    text += String(buffer: buffer)
                    if !hasSent, text == "HTTP/1.1 100 Continue\r\n\r\n" {
                        hasSent = true
                        try await outbound.write(ByteBuffer(string: "abcde"))
                    }
                }
                #expect(text.contains("HTTP/1.1 200 OK\r\n") && text.hasSuffix("abcde"), "\(text)")
            }
            // Nobody reads this body, so the client doesn't have to send it.
            let refused = try await Self.talk(
                port, [Self.request("POST /ignore", ["Content-Length: 5", "Expect: 100-continue"])])
            #expect(refused.hasPrefix("HTTP/1.1 200") && refused.contains("Connection: close"), "\(refused)")
        }
    }

    @Test("An unread body doesn't interfere with the next request")
    func unreadBodies() async throws {
        try await Self.withServer { port in
            let (small, large) = (String(repeating: "x", count: 1_000), String(repeating: "x", count: 300_000))
            let tooLarge = String(repeating: "x", count: 2 << 20)
            let text = try await Self.talk(
                port,
                [
                    Self.request("POST /ignore", ["Content-Length: \(small.utf8.count)"], body: small),
                    Self.request("POST /ignore", ["Content-Length: \(large.utf8.count)"], body: large),
                    Self.request("POST /echo", ["Content-Length: \(tooLarge.utf8.count)"], body: tooLarge),
                    Self.request("GET /hello", ["Connection: close"]),
                ])
            #expect(Self.bodies(text).first == "ignored" && Self.bodies(text).last == "hello", "\(text.prefix(2_000))")
            #expect(text.contains("HTTP/1.1 413 "))
        }
    }

    @Test("A body can still arrive while its answer is being sent")
    func fullDuplex() async throws {
        try await Self.withServer { port in
            try await Self.connect(port).executeThenClose { inbound, outbound in
                var incoming = inbound.makeAsyncIterator()
                try await outbound.write(
                    ByteBuffer(string: Self.request("POST /through", ["Transfer-Encoding: chunked"])))
                var text = ""
                for letter in ["a", "b", "c"] {
                    try await outbound.write(ByteBuffer(string: "1\r\n\(letter)\r\n"))
                    while !text.contains("\r\n1\r\n\(letter)\r\n"), let buffer = try await incoming.next() {
                        text += String(buffer: buffer)
                    }
                }
                #expect(text.contains("1\r\na\r\n1\r\nb\r\n1\r\nc\r\n"), "\(text)")
            }
        }
    }

    @Test("A client that closes its sending side after the request gets the answer")
    func halfClosed() async throws {
        try await Self.withServer { port in
            let text = try await Self.talk(port, [Self.request("GET /hello")], endsInput: true)
            #expect(Self.bodies(text) == ["hello"])
        }
    }

    @Test("A client that closes its sending side during the last answer still gets all of it")
    func halfClosedInAnswer() async throws {
        try await Self.withServer { port in
            let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.allowRemoteHalfClosure, value: true)
                .channelOption(.socketOption(.so_rcvbuf), value: 4 << 10)
                .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try Connection(
                            wrappingChannelSynchronously: channel,
                            configuration: .init(isOutboundHalfClosureEnabled: true))
                    }
                }
            try await connection.executeThenClose { inbound, outbound in
                // The last answer must be in the server's buffer before anything is read.
                let requests = (0..<30).map { Self.request("GET /block", $0 < 29 ? [] : ["Connection: close"]) }
                try await outbound.write(ByteBuffer(string: requests.joined()))
                try await Task.sleep(for: .milliseconds(300))
                outbound.finish()
                try await Task.sleep(for: .milliseconds(100))
                var text = ""
                for try await buffer in inbound { text += String(buffer: buffer) }
                #expect(Self.bodies(text).map(\.utf8.count) == Array(repeating: Self.blockByteCount, count: 30))
            }
        }
    }

    @Test(
        "Anything that isn't HTTP is refused after the answers in flight",
        arguments: [
            "NONSENSE\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET /\r\n\r\n", "GET /hello HTTP/9.9\r\n\r\n",
            "GET /hello HTTP/1.1\r\nBroken\r\n\r\n",
        ])
    func malformed(_ nonsense: String) async throws {
        try await Self.withServer { port in
            let text = try await Self.talk(port, [Self.request("GET /hello") + nonsense], endsInput: true)
            #expect(
                Self.bodies(text).first == "hello" && text.components(separatedBy: "HTTP/1.1 400 ").count == 2,
                "\(text)")
            #expect(text.hasSuffix("This isn't valid HTTP/1.1, or its headers are too many or too long."), "\(text)")
            #expect(text.contains("Connection: close"), "\(text)")
        }
    }

    @Test(
        "A request of HTTP/1.1 names exactly one host; one of HTTP/1.0 at most one",
        arguments: [
            (["HTTP/1.1"], 400), (["HTTP/1.1", "Host: a"], 200), (["HTTP/1.1", "Host:"], 200),
            (["HTTP/1.1", "Host: a", "Host: a"], 400), (["HTTP/1.1", "host: a", "HOST: b"], 400),
            (["HTTP/1.0"], 200), (["HTTP/1.0", "Host: a"], 200), (["HTTP/1.0", "Host: a", "Host: b"], 400),
        ])
    func hosts(_ head: [String], _ status: Int) async throws {
        try await Self.withServer { port in
            let request = "GET /hello " + head.joined(separator: "\r\n") + "\r\nConnection: close\r\n\r\n"
            let text = try await Self.talk(port, [request])
            #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text)")
            #expect(Self.bodies(text) == [status == 200 ? "hello" : RequestHeadError.host.rawValue], "\(text)")
        }
    }

    @Test("A client that keeps sending too many headers can read why it's refused")
    func tooManyHeaders() async throws {
        try await Self.withServer { port in
            let headers = (0..<5_000).map { "X-\($0): \(String(repeating: "y", count: 100))" }
            let text = try await Self.talk(port, [Self.request("GET /hello", headers)], endsInput: true)
            #expect(text.hasPrefix("HTTP/1.1 400 "), "\(text)")
        }
    }

    @Test("A body that isn't HTTP, or breaks off, is refused once", arguments: ["x\r\n", "5\r\nab"])
    func brokenBodies(_ body: String) async throws {
        try await Self.withServer { port in
            let text = try await Self.talk(
                port, [Self.request("POST /echo", ["Transfer-Encoding: chunked"], body: body)], endsInput: true)
            #expect(text.components(separatedBy: "HTTP/1.1 ").count == 2 && text.hasPrefix("HTTP/1.1 400 "), "\(text)")
        }
    }

    @Test(
        "A body whose length differs from its head's ends the connection and is logged as an error",
        arguments: ["/short", "/long"])
    func wrongLengths(_ path: String) async throws {
        let log = LogRecorder()
        try await Self.withServer(log: log) { port in
            let text = try await Self.talk(port, [Self.request("GET \(path)"), Self.request("GET /hello")])
            #expect(!text.contains("hello") && text.components(separatedBy: "HTTP/1.1 ").count <= 2, "\(text)")
        }
        let isLogged = log.text.split(separator: "\n").contains {
            $0.hasPrefix("error A response broke off: ") && $0.contains("Content-Length")
        }
        #expect(isLogged, "\(log.text)")
    }

    @Test("A client that offers HTTP/2 in its first request is answered over HTTP/1, and has to reconnect")
    func offersOfOtherProtocols() async throws {
        try await Self.withServer { port in
            let offer = [
                "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
            ]
            let text = try await Self.talk(port, [Self.request("GET /hello", offer)])
            #expect(Self.bodies(text) == ["hello"] && text.contains("\r\nConnection: close\r\n"), "\(text)")
        }
    }

    @Test("A full URL in the request line, as proxies send it, is accepted")
    func wholeURLs() async throws {
        try await Self.withServer { port in
            let text = try await Self.talk(port, [Self.request("GET http://test/hello?a=b", ["Connection: close"])])
            #expect(Self.bodies(text) == ["hello"], "\(text)")
        }
    }

    @Test("A client that reads no answers gets no more of them, and doesn't keep the server from others")
    func unreadAnswers() async throws {
        try await Self.withServer { port in
            try await Self.connect(port).executeThenClose { _, outbound in
                let request = Self.request("GET /hello")
                // Far more than both systems' buffers hold.
                let flood = Task {
                    let many = ByteBuffer(string: String(repeating: request, count: 200))
                    for _ in 0..<500 { try await outbound.write(many) }
                }
                for _ in 0..<20 {
                    let text = try await Self.talk(port, [Self.request("GET /hello", ["Connection: close"])])
                    #expect(Self.bodies(text) == ["hello"])
                }
                flood.cancel()
                _ = try? await flood.value
            }
        }
    }

    @Test("An idle connection is closed, even in the middle of a body")
    func idleConnections() async throws {
        var limits = Self.limits
        limits.idleTimeout = .milliseconds(300)
        try await Self.withServer(limits) { port in
            let idle = try await Self.talk(port, [Self.request("GET /hello")])
            #expect(Self.bodies(idle) == ["hello"])
            let halfway = try await Self.talk(port, [Self.request("POST /echo", ["Content-Length: 5"], body: "ab")])
            #expect(!halfway.contains("200 OK"), "\(halfway)")
        }
    }
}
