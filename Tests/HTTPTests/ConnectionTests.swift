import Hummingbird
import NIOCore
import NIOPosix
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP

/// Connections before their first request.
@Suite(.timeLimit(.minutes(15))) struct ConnectionTests {
    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// - Parameter address: an address of this machine; Linux has all of 127.0.0.0/8.
    private static func connect(_ port: Int, from address: String = "127.0.0.1") async throws -> Connection {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(to: SocketAddress(ipAddress: address, port: 0))
            .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
            }
    }

    /// Sends text, and reads until the server closes the connection or until the end of an answer's head.
    private static func talk(_ connection: Connection, _ text: String, toTheEnd: Bool = true) async throws -> String {
        try await connection.executeThenClose { inbound, outbound in
            if !text.isEmpty { try await outbound.write(ByteBuffer(string: text)) }
            var answer = ""
            for try await buffer in inbound {
                answer += String(buffer: buffer)
                if !toTheEnd, answer.contains("\r\n\r\n") { break }
            }
            return answer
        }
    }

    private static let request = "GET /hello HTTP/1.1\r\nHost: test\r\n\r\n"

    private func withServer(_ limits: HTTPLimits, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await application(limits: limits) {
            $0.on(.get, "/hello", access: .open(because: "test")) { _, _, _ in "hello" }
        }.live(body)
    }

    @Test(
        "An address has a limited number of connections, others are still served, and closing one frees its slot")
    func connectionsAreCounted() async throws {
        var limits = HTTPLimits.patient
        limits.connectionsPerAddress = 2
        limits.idleTimeout = .seconds(600)
        let (near, far) = ("127.0.0.2", "127.0.0.3")
        try await withServer(limits) { port in
            // Wait for each answer, so that the connection is counted before the next one.
            let first = try await Self.connect(port, from: near)
            try await first.executeThenClose { inbound, outbound in
                var answers = inbound.makeAsyncIterator()
                try await outbound.write(ByteBuffer(string: Self.request))
                #expect(try await answers.next().map { String(buffer: $0) }?.hasPrefix("HTTP/1.1 200") == true)
                let second = try await Self.connect(port, from: near)
                try await second.executeThenClose { inbound, outbound in
                    var answers = inbound.makeAsyncIterator()
                    try await outbound.write(ByteBuffer(string: Self.request))
                    #expect(try await answers.next() != nil)
                    let refused = try await Self.talk(try await Self.connect(port, from: near), "")
                    #expect(refused.hasPrefix("HTTP/1.1 429"), "\(refused)")
                    #expect(refused.contains("Retry-After: 1\r\n") && refused.contains("too many connections"))
                    let other = try await Self.talk(
                        try await Self.connect(port, from: far), Self.request, toTheEnd: false)
                    #expect(other.hasPrefix("HTTP/1.1 200"), "\(other)")
                }
            }
            // The server notices the closed connection a moment later.
            var isServed = false
            while !isServed {
                try Task.checkCancellation()
                let answer = try? await Self.talk(
                    try await Self.connect(port, from: near), Self.request, toTheEnd: false)
                isServed = answer?.hasPrefix("HTTP/1.1 200") == true
            }
        }
    }

    @Test("A trusted proxy's connections are not counted")
    func proxiesAreNotCounted() async throws {
        var limits = HTTPLimits.patient
        limits.connectionsPerAddress = 1
        limits.idleTimeout = .seconds(600)
        limits.trustedProxies = try TrustedProxies("127.0.0.0/8")
        try await withServer(limits) { port in
            let first = try await Self.connect(port)
            try await first.executeThenClose { inbound, outbound in
                var answers = inbound.makeAsyncIterator()
                try await outbound.write(ByteBuffer(string: Self.request))
                #expect(try await answers.next() != nil)
                let answer = try await Self.talk(try await Self.connect(port), Self.request, toTheEnd: false)
                #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
            }
        }
    }

    @Test(
        "A connection that doesn't finish its first request's head in time is closed",
        arguments: ["", "GET /hello HTTP/1.1\r\nHost: test\r\n", "GET /hello HTTP/1.1\r\nHost: test\r\n\r"])
    func theFirstRequestHasToCome(_ beginning: String) async throws {
        var limits = HTTPLimits.patient
        limits.firstRequestTimeout = .milliseconds(200)
        limits.idleTimeout = .seconds(600)
        try await withServer(limits) { port in
            // If the server closes before the write, the write fails.
            let answer = try? await Self.talk(try await Self.connect(port), beginning)
            #expect(answer ?? "" == "")
        }
    }

    @Test("Sending slowly gains no time, and a complete request keeps its connection")
    func drippingBuysNoTime() async throws {
        var limits = HTTPLimits.patient
        limits.firstRequestTimeout = .seconds(3)
        limits.idleTimeout = .seconds(600)
        try await withServer(limits) { port in
            // On a busy machine, connecting or sending may take longer than the first request is allowed to. Then another
            // connection is tried.
            while !(try await Self.dripsInVain(port)) { try Task.checkCancellation() }
            while !(try await Self.staysAfterRequest(port)) { try Task.checkCancellation() }
        }
    }

    /// Sends one header at a time until the server closes the connection, so that no single pause is long.
    /// - Returns: false if the connection was closed before anything was sent.
    private static func dripsInVain(_ port: Int) async throws -> Bool {
        try await connect(port).executeThenClose { inbound, outbound in
            guard (try? await outbound.write(ByteBuffer(string: "GET /hello HTTP/1.1\r\n"))) != nil else {
                return false
            }
            let drip = Task {
                while !Task.isCancelled {
                    try await outbound.write(ByteBuffer(string: "X: y\r\n"))
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            var answer = ""
            do { for try await buffer in inbound { answer += String(buffer: buffer) } } catch {}
            drip.cancel()
            _ = try? await drip.value
            #expect(!answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
            return true
        }
    }

    /// - Returns: false if the connection was closed before its first request was complete.
    private static func staysAfterRequest(_ port: Int) async throws -> Bool {
        try await connect(port).executeThenClose { inbound, outbound in
            var answers = inbound.makeAsyncIterator()
            do {
                for part in [request.prefix(10), request.dropFirst(10)] {
                    try await outbound.write(ByteBuffer(string: String(part)))
                }
                guard try await answers.next() != nil else { return false }
            } catch {
                return false
            }
            // This lasts longer than a connection without a request may stay open.
            _ = try await talk(try await connect(port), "")
            try await outbound.write(ByteBuffer(string: request))
            var text = ""
            while !text.contains("HTTP/1.1 200"), let buffer = try await answers.next() {
                text += String(buffer: buffer)
            }
            #expect(text.contains("HTTP/1.1 200"))
            return true
        }
    }

    @Test("Closed connections are forgotten, and an address's first refusal is logged")
    func theDoorIsBounded() {
        let door = ConnectionDoor(limit: 2)
        let (one, two) = (AddressGroup("192.0.2.1"), AddressGroup("192.0.2.2"))
        #expect(door.enter(one) == .enter && door.enter(one) == .enter)
        #expect(door.enter(one) == .full(isNew: true) && door.enter(one) == .full(isNew: false))
        #expect(door.enter(two) == .enter)
        door.leave(one)
        #expect(door.enter(one) == .enter)
        for group in [one, one, two, two] { door.leave(group) }
        #expect(door.enter(one) == .enter && door.enter(one) == .enter)
        #expect(door.enter(one) == .full(isNew: true))
    }
}
