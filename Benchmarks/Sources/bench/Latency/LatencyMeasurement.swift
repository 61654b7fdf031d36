import Foundation
import PostgresClient

/// The time from when COMMIT returns to a plain-SQL writer until the value is in the device's file.
struct LatencyMeasurement: Measurable {
    /// How long to wait, after the writers end, for values still in flight to reach the devices.
    static let settleTime = Duration.seconds(3)

    /// The parts that are measured one after the other.
    enum Part: String, CaseIterable, Sendable {
        case one = "(a) each commit concerns one device"
        case all = "(b) each commit concerns all devices"
        case fromIdle = "(c) from idle, a commit that concerns all now and then"
    }

    let sizes: Sizes.Latency

    func measure(_ database: BenchDatabase) async throws -> Measurement {
        let token = try await database.prepare()
        try await database.insertListings(sizes.otherRowCount)
        try await insertRows(database)
        let gateway = try await GatewayProcess.start(database)
        defer { gateway.end() }
        return try await TemporaryFolder.with { folder in
            let devices = try BenchProcess([
                "latency-devices", "--url", gateway.syncURL, "--token", token, "--folder", folder.url.path,
                "--devices", "\(sizes.deviceCount)",
            ])
            defer { devices.end() }
            _ = try await devices.expect("ready")
            var result = Measurement(
                MeasurementName.latency.rawValue,
                conditions:
                    "\(sizes.deviceCount) devices with distinct queries, \(sizes.commitsPerSecond) commits/s by "
                    + "plain SQL for \(sizes.seconds) s, in (c) one every "
                    + "\(Table.number(sizes.idleIntervalSeconds)) s; from COMMIT returning until the value is in the file"
            )
            let rows = LatencyRows.rowsPerPlace
            let deviceCount = sizes.deviceCount
            let commitCount = sizes.commitsPerSecond * sizes.seconds
            let rate = Double(sizes.commitsPerSecond)
            let session = Session(gateway: gateway, devices: devices, folder: folder, database: database)
            try await session.warm(perSecond: rate, key: { LatencyRows.key(device: nil, $0 % rows) })
            for part in sizes.parts {
                switch part {
                case .one:
                    result.figures += try await session.run(
                        part.rawValue, commitCount, perSecond: rate, firstNumber: 1_000_000,
                        expected: { [$0 % deviceCount] },
                        key: { LatencyRows.key(device: $0 % deviceCount, $0 / deviceCount % rows) })
                case .all:
                    result.figures += try await session.run(
                        part.rawValue, commitCount, perSecond: rate, firstNumber: 2_000_000,
                        expected: { _ in Array(0..<deviceCount) }, key: { LatencyRows.key(device: nil, $0 % rows) })
                case .fromIdle:
                    result.figures += try await session.run(
                        part.rawValue, Int(Double(sizes.seconds) / sizes.idleIntervalSeconds),
                        perSecond: 1 / sizes.idleIntervalSeconds, firstNumber: 3_000_000,
                        expected: { _ in Array(0..<deviceCount) }, key: { LatencyRows.key(device: nil, $0 % rows) })
                }
            }
            return result
        }
    }

    private func insertRows(_ database: BenchDatabase) async throws {
        let devices = (0..<sizes.deviceCount).map { Optional($0) } + [nil]
        var keys: [[UInt8]] = []
        var places: [String] = []
        for device in devices {
            keys += (0..<LatencyRows.rowsPerPlace).map { LatencyRows.key(device: device, $0) }
            let place = device.map(LatencyRows.place) ?? LatencyRows.sharedPlace
            places += (0..<LatencyRows.rowsPerPlace).map { _ in place }
        }
        try await database.pool.query(
            """
            INSERT INTO listing (_id, location, price, bedrooms)
            SELECT k, p, 0, 3 FROM unnest($1::bytea[], $2::text[]) AS t (k, p)
            """, [.byteaArray(keys), .textArray(places)])
        try await database.pool.execute("ANALYZE listing")
    }

    /// The processes that all parts use in turn.
    private struct Session {
        let gateway: GatewayProcess
        let devices: BenchProcess
        let folder: TemporaryFolder
        let database: BenchDatabase

        /// A second of commits that aren't recorded.
        func warm(perSecond: Double, key: @escaping @Sendable (Int) -> [UInt8]) async throws {
            _ = try await PlainWriter(
                pool: database.pool, commitsPerSecond: perSecond, commitCount: Int(perSecond), firstNumber: 1,
                key: key
            ).run()
            try await Task.sleep(for: LatencyMeasurement.settleTime)
        }

        func run(
            _ name: String, _ commitCount: Int, perSecond: Double, firstNumber: Int,
            expected: (Int) -> [Int], key: @escaping @Sendable (Int) -> [UInt8]
        ) async throws -> [Figure] {
            let times = try await ProcessorTimes(
                [("the gateway", gateway.process), ("the devices", devices)], database)
            let start = Monotonic.nanoseconds
            let commits = try await PlainWriter(
                pool: database.pool, commitsPerSecond: perSecond, commitCount: commitCount, firstNumber: firstNumber,
                key: key
            ).run()
            let seconds = Double(Monotonic.nanoseconds - start) / 1e9
            let processors = times.figures(name)
            try await Task.sleep(for: LatencyMeasurement.settleTime)
            let file = folder.path("arrivals.json")
            try devices.say("report \(file)")
            _ = try await devices.expect("written")
            let arrivals = try JSONDecoder().decode(
                [[LatencyDevice.Arrival]].self, from: Data(contentsOf: URL(filePath: file)))
            let (latencies, overtaken, missing) = delays(commits, arrivals, firstNumber, expected)
            return [
                Figure("\(name): p50", "ms", latencies.quantile(0.5)),
                Figure("\(name): p99", "ms", latencies.quantile(0.99)),
                Figure("\(name): max", "ms", latencies.max() ?? 0),
                Figure("\(name): commits", "1/s", Double(commits.count) / seconds),
                Figure("\(name): values looked for", "", Double(latencies.count)),
                Figure("\(name): of them overtaken by a later value", "", Double(overtaken)),
                Figure("\(name): never arrived", "", Double(missing)),
            ] + processors
        }

        /// Milliseconds for each commit at each device that it concerns. If a value was overtaken by a later one in
        /// the same row before the device read it, the later one's arrival counts.
        private func delays(
            _ commits: [PlainWriter.Commit], _ arrivals: [[LatencyDevice.Arrival]], _ firstNumber: Int,
            _ expected: (Int) -> [Int]
        ) -> (milliseconds: [Double], overtaken: Int, missing: Int) {
            let arrivedAt = arrivals.map { Dictionary($0.map { ($0.commit, $0.nanoseconds) }) { first, _ in first } }
            // From the newest commit backwards: when a value at least as new had arrived at each device.
            var newestArrival: [Int64?] = arrivals.map { _ in nil }
            var milliseconds: [Double] = []
            var overtaken = 0
            var missing = 0
            for commit in commits.sorted(by: { $0.number > $1.number }) {
                for device in expected(commit.number - firstNumber) {
                    if let arrival = arrivedAt[device][commit.number] {
                        newestArrival[device] = arrival
                    } else if newestArrival[device] != nil {
                        overtaken += 1
                    }
                    guard let arrival = newestArrival[device] else {
                        missing += 1
                        continue
                    }
                    milliseconds.append(Double(arrival - commit.nanoseconds) / 1e6)
                }
            }
            return (milliseconds, overtaken, missing)
        }
    }
}
