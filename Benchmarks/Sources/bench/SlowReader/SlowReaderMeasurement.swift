import Foundation
import PostgresClient

/// How much memory a device that doesn't read costs the gateway, compared with one that reads.
struct SlowReaderMeasurement: Measurable {
    /// The gateway drops a device that is silent for three times as long.
    static let pongInterval = Duration.seconds(10)
    /// The prices of the first commits. The price of the last one tells the device that it has everything.
    static let (warmingPrice, firstPrice) = (5_000_000, 10_000_000)
    static let warmingCommitCount = 20
    /// The length of the text that each change writes. In total, that's more than the kernel's socket buffers hold.
    static let textLength = 1_000

    let sizes: Sizes.SlowReader

    private var commitCount: Int { sizes.changeCount / sizes.rowsPerCommit }

    func measure(_ database: BenchDatabase) async throws -> Measurement {
        var result = Measurement(
            MeasurementName.slowReader.rawValue,
            conditions: "one device subscribed to everything, \(sizes.changeCount) changes by plain SQL in commits of "
                + "\(sizes.rowsPerCommit), each of \(Self.textLength) bytes, over \(sizes.seconds) s; "
                + "growth of the gateway's resident memory")
        let reading = try await run(reads: true, database)
        let slow = try await run(reads: false, database)
        result.figures = [
            Figure("the device reads: gateway before", "MB", reading.start),
            Figure("the device reads: growth", "MB", reading.growth),
            Figure("the device does not read: gateway before", "MB", slow.start),
            Figure("the device does not read: growth", "MB", slow.growth),
            Figure("the device does not read: changes made", "1/s", slow.changesPerSecond),
            Figure("the device does not read: caught up afterwards in", "s", slow.catchUpSeconds),
        ]
        return result
    }

    private struct Outcome {
        var start: Double
        var growth: Double
        var changesPerSecond: Double
        var catchUpSeconds: Double
    }

    private func run(reads: Bool, _ database: BenchDatabase) async throws -> Outcome {
        let token = try await database.prepare()
        try await database.insertListings(sizes.rowCount)
        let gateway = try await GatewayProcess.start(database)
        defer { gateway.end() }
        let device = RawDevice()
        try await device.open(port: gateway.port, token: token)
        // After the first ticks, the gateway's pools and caches are warm.
        try await change(Self.warmingCommitCount, from: Self.warmingPrice, seconds: 1, database)
        try await device.read(untilPrice: Int64(Self.warmingPrice + Self.warmingCommitCount - 1))
        try await Task.sleep(for: .seconds(1))

        let watch = try MemoryWatch(gateway.process.processID)
        let last = Int64(Self.firstPrice + commitCount - 1)
        let begin = ContinuousClock.now
        let start = Monotonic.nanoseconds
        let reading = Task { if reads { try await device.read(untilPrice: last) } }
        let living = Task {
            while !reads, !Task.isCancelled {
                try await device.sendPong()
                try await Task.sleep(for: Self.pongInterval)
            }
        }
        defer { living.cancel() }
        try await change(commitCount, from: Self.firstPrice, seconds: Double(sizes.seconds) * 0.9, database)
        let changeSeconds = Double(Monotonic.nanoseconds - start) / 1e9
        try await Task.sleep(until: begin + .seconds(sizes.seconds))
        let (startSize, greatest) = watch.megabytes
        watch.stop()
        living.cancel()
        try await reading.value
        let catchUp = try await Monotonic.seconds { if !reads { try await device.read(untilPrice: last) } }
        return Outcome(
            start: startSize, growth: greatest - startSize, changesPerSecond: Double(sizes.changeCount) / changeSeconds,
            catchUpSeconds: catchUp)
    }

    /// Commits at a steady rate, or as fast as possible if that's slower.
    private func change(
        _ count: Int, from firstPrice: Int, seconds: Double, _ database: BenchDatabase
    ) async throws {
        let start = Monotonic.nanoseconds
        try await database.pool.withConnection { connection in
            for commit in 0..<count {
                let due = start + Int64(Double(commit) / Double(count) * seconds * 1e9)
                let wait = due - Monotonic.nanoseconds
                if wait > 0 { try await Task.sleep(for: .nanoseconds(wait)) }
                let keys = (0..<sizes.rowsPerCommit).map { row in
                    ListingKey.bytes((commit * sizes.rowsPerCommit + row) % sizes.rowCount)
                }
                try await connection.query(
                    "UPDATE listing SET price = $2, location = $3 WHERE _id = ANY ($1)",
                    [
                        .byteaArray(keys), .int64(Int64(firstPrice + commit)),
                        .text(String(repeating: "x", count: Self.textLength - 8) + String(firstPrice + commit)),
                    ])
            }
        }
    }
}
