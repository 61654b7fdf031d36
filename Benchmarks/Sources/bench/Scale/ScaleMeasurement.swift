/// How the gateway scales with devices and changes, how hostile devices affect others, what the ticket API achieves,
/// and what the changelog costs, each with its target. The targets are for 2 cores shared by gateway, devices and
/// PostgreSQL.
struct ScaleMeasurement: Measurable {
    let sizes: Sizes

    var scale: Sizes.Scale { sizes.scale }
    var rows: Set<ScaleRow> { Set(scale.rows) }

    func measure(_ database: BenchDatabase) async throws -> Measurement {
        var result = Measurement(
            MeasurementName.scale.rawValue,
            conditions:
                "\(scale.deviceCount) light devices on the gateway's machine, beside a bare NIO WebSocket server "
                + "that sends the same; runs: \(scale.runCount); p99 from COMMIT returning until the device has the batch"
        )
        var results = ScaleResults()
        for run in 1...scale.runCount {
            Lines.say("  run \(run) of \(scale.runCount)")
            await connected(&results, database)
            await toAll(&results, database)
            await withFiles(&results, database)
        }
        await upload(&results, database)
        await firstSync(&results, database)
        await hostile(&results, database)
        await tickets(&results, database)
        await changelog(&results, database)
        result.figures = results.figures
        return result
    }

    /// Prepares the database, starts a server, and connects devices to it.
    /// - Parameter failure: the name under which to record a failure.
    func stage(
        _ server: ScaleStage.Server, _ wish: ScaleWish, _ count: Int, _ results: inout ScaleResults,
        failure: String, _ database: BenchDatabase,
        _ body: (inout ScaleResults, ScaleStage) async throws -> Void
    ) async {
        do {
            let tokens = try await LightDevices.tokens(
                first: database.prepare(), deviceCount: server == .bare ? 0 : count, database)
            try await ScaleListings.insert(deviceCount: count, database)
            let stage = try await ScaleStage.start(server, wish, tokens: tokens, database)
            defer { stage.end() }
            try await stage.connect(count)
            try await body(&results, stage)
        } catch {
            results.fail(failure, error)
        }
    }

    /// Runs a part. If it fails, the following parts are still measured.
    func attempt(
        _ row: ScaleRow, _ name: String, _ results: inout ScaleResults,
        _ body: (inout ScaleResults) async throws -> Void
    ) async {
        guard rows.contains(row) else { return }
        do {
            try await body(&results)
        } catch {
            results.fail(name, error)
        }
    }
}
