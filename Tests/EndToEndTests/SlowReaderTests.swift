import PostgresClient
import TomboloModel
import TomboloSyncProtocol
import Testing

@Suite(.serialized, .timeLimit(.minutes(15)))
struct SlowReaderTests {
    private static let readers = 20
    /// How much memory a session may take, including the overhead of the allocator and the connection; about a third of
    /// the data meant for each device meanwhile.
    private static let bytesForEachReader = 6 << 20
    private static let codec = MessageCodec(schema: Platform.schema)

    @Test
    func `Devices that do not read cost the gateway a bounded amount of memory, and get everything when they read`()
        async throws
    {
        try await Platform.with { platform in
            let gateway = platform.gateways[0]
            guard await gateway.residentBytes() != nil else { return }
            let token = try platform.token(of: "attendee")
            try await platform.sql(
                """
                INSERT INTO listing (_id, location, price, bedrooms)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), 'slow', 0, 0 FROM generate_series(1, 500) AS n
                """)
            let reading = try await platform.device("reader", of: "attendee")
            try await reading.ask("subscribe", "Listing")
            // First fill the gateway's memory of recent changes, which is shared and has a limit of its own.
            try await change(platform, rounds: 40)
            try await platform.quiet([reading])
            let before = try #require(await gateway.residentBytes())

            let (stalled, isStalled) = AsyncStream.makeStream(of: Void.self)
            // Stalled devices don't answer pings, so they send an unsolicited pong every two seconds to show that they
            // are alive.
            let signs = (0..<Self.readers).map { _ in AsyncStream.makeStream(of: Void.self) }
            let signing = Task {
                while !Task.isCancelled {
                    for sign in signs { sign.continuation.yield() }
                    try await Task.sleep(for: .seconds(2))
                }
            }
            defer { signing.cancel() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for sign in signs {
                    let sign = sign.stream
                    group.addTask {
                        do {
                            try await RawSocket.with(gateway, within: .seconds(600)) { socket in
                                try await Self.begin(socket, token)
                                isStalled.yield()
                                for await _ in sign { try await socket.send([], opcode: RawSocket.pong) }
                                try await Self.readUntilLast(socket)
                            }
                        } catch {
                            // Stop waiting for this device.
                            isStalled.finish()
                            throw error
                        }
                    }
                }
                var count = 0
                for await _ in stalled {
                    count += 1
                    if count == Self.readers { break }
                }
                // Throws the error of the device that failed.
                if count < Self.readers { try await group.next() }
                try await change(platform, rounds: 40)
                try await platform.quiet([reading])
                let after = try #require(await gateway.residentBytes())
                print("gateway: \(before >> 20) MiB before, \(after >> 20) MiB with \(Self.readers) stalled devices")
                #expect(after - before < Self.readers * Self.bytesForEachReader)
                try await platform.insertListing("the last one")
                for sign in signs { sign.continuation.finish() }
                try await group.waitForAll()
            }
            try await reading.kill9()
        }
    }

    /// Makes 500 changes per round, each with a kilobyte of data.
    private func change(_ platform: Platform, rounds: Int) async throws {
        for _ in 0..<rounds {
            try await platform.sql(
                """
                UPDATE listing SET price = price + 1, location = 'slow' || price || repeat(md5(random()::text), 32)
                WHERE location LIKE 'slow%'
                """)
        }
    }

    private static func begin(_ socket: RawSocket, _ token: String) async throws {
        let everything = Subscription(name: nil, className: "Listing", predicate: .constant(true))
        try await socket.send(
            Greeting.hello(
                Platform.schema, token: token, client: Greeting.newClient(), subscriptions: [everything]),
            codec: codec)
        while case .message(let bytes) = try await socket.next() {
            guard case .end(let end) = try codec.decodeServerMessage(bytes) else { continue }
            return try await socket.send(.applied(tick: end.position.tick), codec: codec)
        }
    }

    private static func readUntilLast(_ socket: RawSocket) async throws {
        var isLast = false
        while case .message(let bytes) = try await socket.next() {
            switch try codec.decodeServerMessage(bytes) {
            case .frame: isLast = isLast || bytes.firstRange(of: Array("the last one".utf8)) != nil
            case .end(let end):
                if isLast { return }
                try await socket.send(.applied(tick: end.position.tick), codec: codec)
            default: break
            }
        }
        throw EndToEndFailure("The gateway closed the connection of a device that read late.")
    }
}
