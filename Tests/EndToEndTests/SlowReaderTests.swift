import PostgresClient
import TomboloModel
import TomboloSyncProtocol
import Testing

@Suite(.serialized, .timeLimit(.minutes(15)))
struct SlowReaderTests {
    private static let readers = 20
    /// What a session may hold, with what the allocator and the connection add; about a third of what is meant for
    /// each device meanwhile.
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
            // The gateway's memory of recent changes fills first: it is shared and bounded by itself.
            try await change(platform, rounds: 40)
            try await platform.quiet([reading])
            let before = try #require(await gateway.residentBytes())

            let (stalled, isStalled) = AsyncStream.makeStream(of: Void.self)
            // A device that is stalled answers no pings; it says now and then that it is there.
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
                            // Nobody is to wait for this one.
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
                // One that failed says why.
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

    /// 500 changes for each round, with a kilobyte for each.
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
