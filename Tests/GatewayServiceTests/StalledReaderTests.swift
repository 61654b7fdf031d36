import PostgresClient
import Synchronization
import Testing
import TomboloMetrics
import TomboloModel
import TomboloSyncProtocol

@testable import GatewayService

@Suite(.serialized, .timeLimit(.minutes(15)))
struct StalledReaderTests {
    /// More than a local network connection buffers, in frames of several megabytes.
    private static let content = """
        INSERT INTO note (_id, text) SELECT n, repeat(md5(n::text), 32) FROM generate_series(1, 64000) AS n
        """

    /// Runs a device until it has its first batch, which is empty. While it waits for a read slot the device is silent, so
    /// it may be disconnected and have to try again.
    private static func bootstrap(_ fixture: GatewayFixture) async throws {
        let isComplete = Mutex(false)
        while !isComplete.withLock({ $0 }) {
            try Task.checkCancellation()
            try? await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello(wanting: [])
                let end = try await device.firstEnd()
                if end != nil { isComplete.withLock { $0 = true } }
            }
        }
    }

    enum Kind: CaseIterable {
        /// Sends pings, but doesn't read.
        case pinging
        /// Sends nothing.
        case silent
    }

    @Test(
        "a device that stalls during its batch is disconnected, even if nobody is waiting for its slot",
        arguments: Kind.allCases)
    func standingStill(_ kind: Kind) async throws {
        var limits = SessionLimits()
        limits.writeStallLimit = kind == .pinging ? .seconds(2) : .seconds(600)
        limits.silenceLimit = kind == .silent ? .milliseconds(500) : .seconds(600)
        let metrics = MetricRegistry()
        try await GatewayFixture.with(try Schema.of([Note.self]), limits: limits, metrics: metrics) { fixture in
            try await fixture.pool.execute(Self.content)
            try await fixture.waitForTick()
            // On a busy machine the device may already stall, and be disconnected, before its batch has begun. Then it
            // tries again.
            let wasDisconnected = Mutex(false)
            while !wasDisconnected.withLock({ $0 }) {
                try Task.checkCancellation()
                try? await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                    try await device.sayHello()
                    guard try await device.first({ if case .frame = $0 { true } else { nil } }) != nil else { return }
                    // Watch the gateway's end of the connection, because a device that reads nothing doesn't notice until
                    // its next ping that its own end is closed.
                    while try await Self.sessionCount(metrics) > 0 { try await Task.sleep(for: .milliseconds(50)) }
                    wasDisconnected.withLock { $0 = true }
                }
            }
        }
    }

    /// The number of sessions in any state.
    private static func sessionCount(_ metrics: MetricRegistry) async throws -> Int {
        let lines = await metrics.exposition().split(separator: "\n").filter { $0.hasPrefix("tombolo_sessions{") }
        try #require(!lines.isEmpty)
        return lines.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0) { $0 + Int($1) }
    }

    @Test("stalled devices, as many as there are read slots, don't keep the next one from its batch")
    func stoppingToRead() async throws {
        try await GatewayFixture.with(
            try Schema.of([Note.self]), authorize: { .everything(for: $0) }
        ) { fixture in
            try await fixture.pool.execute(Self.content)
            try await fixture.waitForTick()
            let (stalled, isStalled) = AsyncStream.makeStream(of: Void.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<Gateway.maximumConcurrentReads {
                    group.addTask {
                        // A device that is disconnected before its batch has begun tries again.
                        let isReading = Mutex(false)
                        while !isReading.withLock({ $0 }), !Task.isCancelled {
                            try? await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                                try await device.sayHello(token: "user \(number)")
                                let frame = try await device.first { if case .frame = $0 { true } else { nil } }
                                guard frame != nil else { return }
                                isReading.withLock { $0 = true }
                                isStalled.yield()
                                try await Task.sleep(for: .seconds(600))
                            }
                        }
                    }
                }
                var count = 0
                for await _ in stalled {
                    count += 1
                    if count == Gateway.maximumConcurrentReads { break }
                }
                try await Self.bootstrap(fixture)
                group.cancelAll()
            }
        }
    }

    @Test("a device that stalls during its batch holds no slot, and continues where it was once it reads again")
    func readingAgain() async throws {
        var limits = SessionLimits.patient
        limits.concurrentReads = 1
        try await GatewayFixture.with(
            try Schema.of([Note.self]), limits: limits, authorize: { .everything(for: $0) }
        ) { fixture in
            try await fixture.pool.execute(Self.content)
            try await fixture.waitForTick()
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello(token: "slow")
                let first = try await device.first { if case .frame(let frame) = $0 { frame } else { nil } }
                let firstRowCount = try #require(first).blocks.reduce(0) { $0 + $1.rowCount }
                try await Self.bootstrap(fixture)
                // The first frame was read above.
                var sequences = [0]
                var rowCount = firstRowCount
                let end = try await device.first { message -> BatchEnd? in
                    switch message {
                    case .frame(let frame):
                        sequences.append(frame.sequence)
                        rowCount += frame.blocks.reduce(0) { $0 + $1.rowCount }
                        return nil
                    case .end(let end): return end
                    default: return nil
                    }
                }
                #expect(sequences == Array(0..<(end?.frameCount ?? 0)), "The batch continues.")
                #expect(rowCount == 64_000)
            }
        }
    }

    @Test
    func `A device that leaves while waiting for a read slot gives up its place in line`() async throws {
        let slots = ReadSlots(count: 1)
        let (ending, end) = AsyncStream.makeStream(of: Void.self)
        let standing = ReadProgress(isWaitingForDevice: false, takenByteCount: 0)
        let (beginning, begin) = AsyncStream.makeStream(of: Void.self)
        let holding = Task {
            try await slots.run(Peer("a"), progress: { standing }) {
                begin.yield()
                for await _ in ending { break }
            }
        }
        for await _ in beginning { break }
        let waiting = Task { try await slots.run(Peer("b"), progress: { standing }) {} }
        while await slots.waitingCount < 1 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        end.yield()
        try await holding.value
        try await slots.run(Peer("c"), progress: { standing }) {}
    }
}
