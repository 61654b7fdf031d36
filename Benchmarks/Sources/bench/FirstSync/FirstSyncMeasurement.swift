import PostgresClient

/// A first sync of all listings from PostgreSQL into a new device file, through gateway and sync engine, compared
/// with the raw limit.
struct FirstSyncMeasurement: Measurable {
    static let synced = "first sync"
    static let rawInTurn = "COPY OUT, and then inserts through SQLite's C API"

    let sizes: Sizes.FirstSync

    func measure(_ database: BenchDatabase) async throws -> Measurement {
        let token = try await database.prepare()
        try await database.insertListings(sizes.rowCount)
        let gateway = try await GatewayProcess.start(database)
        defer { gateway.end() }
        return try await TemporaryFolder.with { folder in
            var synced: [Double] = []
            var raw: [Double] = []
            var rawInTurn: [Double] = []
            var processors: [String: [Double]] = [:]
            var order: [String] = []
            // The first run of each warms the caches.
            for run in 0...sizes.runCount {
                let file = folder.path("device-\(run).sqlite")
                let (seconds, times) = try await sync(file, gateway, token, database)
                let copy = try RawCopy(deviceFile: file)
                let rawSeconds = try await self.seconds(copy, inTurn: false, folder.path("raw-\(run).sqlite"), database)
                let inTurnSeconds = try await self.seconds(
                    copy, inTurn: true, folder.path("turn-\(run).sqlite"), database)
                guard run > 0 else { continue }
                synced.append(Double(sizes.rowCount) / seconds)
                raw.append(Double(sizes.rowCount) / rawSeconds)
                rawInTurn.append(Double(sizes.rowCount) / inTurnSeconds)
                for (name, seconds) in times where name != "bench itself" {
                    if processors[name] == nil { order.append(name) }
                    processors[name, default: []].append(seconds)
                }
            }
            var result = Measurement(
                MeasurementName.firstSync.rawValue,
                conditions: "\(sizes.rowCount) listings, from connecting to the applied batch, a new file each time")
            result.figures = [
                Figure(Self.synced, "rows/s", runs: synced),
                Figure("COPY OUT and inserts through SQLite's C API", "rows/s", runs: raw),
                Figure(Self.rawInTurn, "rows/s", runs: rawInTurn),
                Figure("time, as a multiple of the raw limit", "×", raw.median / synced.median),
            ]
            for name in order {
                result.figures.append(Figure("CPU time of \(name)", "s", runs: processors[name] ?? []))
            }
            return result
        }
    }

    private func seconds(
        _ copy: RawCopy, inTurn: Bool, _ path: String, _ database: BenchDatabase
    ) async throws -> Double {
        try await Monotonic.seconds {
            let count = try await database.pool.withConnection {
                try await copy.run($0, into: path, inTurn: inTurn)
            }
            guard count == sizes.rowCount else { throw BenchError("COPY returned \(count) rows.") }
        }
    }

    private func sync(
        _ file: String, _ gateway: GatewayProcess, _ token: String, _ database: BenchDatabase
    ) async throws -> (seconds: Double, times: [(name: String, seconds: Double)]) {
        let device = try BenchProcess(
            ["first-sync-device", "--url", gateway.syncURL, "--token", token, "--file", file])
        defer { device.end() }
        _ = try await device.expect("ready")
        let times = try await ProcessorTimes([("the gateway", gateway.process), ("the device", device)], database)
        try device.say("begin")
        let words = try await device.expect("done").split(separator: " ").map(String.init)
        guard words.count == 2, let seconds = Double(words[0]), let count = Int(words[1]) else {
            throw BenchError("The device didn't report what it measured.")
        }
        guard count == sizes.rowCount else { throw BenchError("The device has \(count) listings.") }
        return (seconds, times.seconds())
    }
}
