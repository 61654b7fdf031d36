import Foundation
import PostgresClient

/// New objects uploaded by many devices at once, compared with the same rows inserted by multi-row INSERTs.
struct UploadMeasurement: Measurable {
    let sizes: Sizes.Upload

    func measure(_ database: BenchDatabase) async throws -> Measurement {
        var result = Measurement(
            MeasurementName.upload.rawValue,
            conditions: "\(sizes.deviceCount) devices create listings; until every device has the outcome; "
                + "INSERTs of \(sizes.rowsPerInsert) rows, each a transaction")
        for shape in sizes.shapes {
            result.figures += try await measure(
                changesetCount: shape.changesetCount, objectCount: shape.objectCount, database)
        }
        return result
    }

    static func name(_ changesetCount: Int, _ objectCount: Int) -> String {
        "\(changesetCount) changesets of \(objectCount) from each device"
    }

    private func measure(
        changesetCount: Int, objectCount: Int, _ database: BenchDatabase
    ) async throws -> [Figure] {
        let token = try await database.prepare()
        try await database.pool.execute("CREATE TABLE plain_listing (LIKE listing INCLUDING ALL)")
        let gateway = try await GatewayProcess.start(database)
        defer { gateway.end() }
        let changeCount = sizes.deviceCount * changesetCount * objectCount
        var uploaded: [Double] = []
        var captured: [Double] = []
        var plain: [Double] = []
        var processors: [String: [Double]] = [:]
        var order: [String] = []
        // The first run warms the caches.
        for run in 0...sizes.runCount {
            let (seconds, times) = try await TemporaryFolder.with { folder in
                try await upload(folder, changesetCount, objectCount, gateway, token, database)
            }
            let count = try await database.pool.query("SELECT count(*) FROM listing WHERE location LIKE 'device%'")
            guard try count[0][0].int == changeCount else { throw BenchError("Changes are missing in PostgreSQL.") }
            try await database.pool.execute("DELETE FROM listing")
            let capturedSeconds = try await insert(changeCount, into: "listing", database)
            try await database.pool.execute("DELETE FROM listing")
            let plainSeconds = try await insert(changeCount, into: "plain_listing", database)
            try await database.pool.execute("TRUNCATE plain_listing")
            guard run > 0 else { continue }
            uploaded.append(Double(changeCount) / seconds)
            captured.append(Double(changeCount) / capturedSeconds)
            plain.append(Double(changeCount) / plainSeconds)
            for (name, seconds) in times where name != "bench itself" {
                if processors[name] == nil { order.append(name) }
                processors[name, default: []].append(seconds)
            }
        }
        let name = Self.name(changesetCount, objectCount)
        return [
            Figure("\(name): uploaded", "changes/s", runs: uploaded),
            Figure("\(name): INSERT with the changelog", "rows/s", runs: captured),
            Figure("\(name): INSERT into a plain table", "rows/s", runs: plain),
        ] + order.map { Figure("\(name): CPU time of \($0)", "s", runs: processors[$0] ?? []) }
    }

    private func upload(
        _ folder: TemporaryFolder, _ changesetCount: Int, _ objectCount: Int, _ gateway: GatewayProcess,
        _ token: String, _ database: BenchDatabase
    ) async throws -> (Double, [(name: String, seconds: Double)]) {
        let writer = try BenchProcess([
            "queue-changes", "--token", token, "--folder", folder.url.path, "--devices", "\(sizes.deviceCount)",
            "--changesets", "\(changesetCount)", "--objects", "\(objectCount)",
        ])
        _ = try await writer.expect("queued", within: .seconds(600))
        writer.end()
        let devices = try BenchProcess([
            "upload-devices", "--url", gateway.syncURL, "--token", token, "--folder", folder.url.path, "--devices",
            "\(sizes.deviceCount)", "--changesets", "\(changesetCount)",
        ])
        defer { devices.end() }
        _ = try await devices.expect("ready")
        let times = try await ProcessorTimes([("the gateway", gateway.process), ("the devices", devices)], database)
        try devices.say("begin")
        guard let seconds = Double(try await devices.expect("done", within: .seconds(600))) else {
            throw BenchError("The devices didn't report what they measured.")
        }
        return (seconds, times.seconds())
    }

    /// The time to insert the rows on one connection, in seconds.
    private func insert(_ count: Int, into table: String, _ database: BenchDatabase) async throws -> Double {
        let fields = 4
        return try await database.pool.withConnection { connection in
            try await Monotonic.seconds {
                for start in stride(from: 0, to: count, by: sizes.rowsPerInsert) {
                    let rows = start..<min(start + sizes.rowsPerInsert, count)
                    let places = rows.map { row in
                        let first = (row - start) * fields
                        return "($\(first + 1), $\(first + 2), $\(first + 3), $\(first + 4))"
                    }
                    let parameters = rows.flatMap { row -> [PostgresParameter] in
                        [
                            .bytea(ListingKey.bytes(row)), .text("place \(row % 10)"),
                            .int64(Int64(100_000 + row)), .int64(Int64(1 + row % 6)),
                        ]
                    }
                    try await connection.query(
                        "INSERT INTO \(table) (_id, location, price, bedrooms) VALUES "
                            + places.joined(separator: ", "), parameters)
                }
            }
        }
    }
}
