extension ScaleMeasurement {
    private static let commitsPerSecond = 50.0
    private static let commitsToAllPerSecond = 5.0
    /// How long the gateway has to release memory after its devices have disconnected.
    private static let givingBackTime = Duration.seconds(15)
    /// The pause between closing all connections and reconnecting.
    private static let pauseBeforeReturn = Duration.seconds(3)

    /// The rows about devices with distinct queries: memory, idle, nobody, one, reconnect.
    func connected(_ results: inout ScaleResults, _ database: BenchDatabase) async {
        let (most, few, tenth) = (scale.deviceCount, scale.fewCount, scale.tenthCount)
        var fewNobody: Double?
        var fewOne: Double?
        if !rows.isDisjoint(with: [.nobody, .one]) {
            await stage(.gateway, .own, few, &results, failure: "\(few) devices with distinct queries", database) {
                results, stage in
                await attempt(.nobody, Self.nobody(few), &results) { results in
                    let outcome = try await stage.nobody(perSecond: Self.commitsPerSecond, seconds: scale.seconds)
                    fewNobody = outcome.usage.server
                    results.add(Self.nobody(few), "% of a core", outcome.usage.server, beside: outcome.usage)
                }
                await attempt(.one, Self.one(few), &results) { results in
                    let outcome = try await stage.commits(perSecond: Self.commitsPerSecond, seconds: scale.seconds)
                    fewOne = outcome.p99
                    results.add(Self.one(few), "ms", outcome.p99, beside: outcome.usage)
                }
            }
        }
        if rows.contains(.memory), tenth >= ScaleStage.warmingCount {
            await stage(.gateway, .own, tenth, &results, failure: Self.memory(tenth), database) { results, stage in
                results.add(Self.memory(tenth), "kB", try stage.bytesPerDevice() / 1e3, allowed: 10)
            }
        }
        guard !rows.isDisjoint(with: [.memory, .idle, .nobody, .one, .reconnect]) else { return }
        await stage(.gateway, .own, most, &results, failure: "\(most) devices with distinct queries", database) {
            results, stage in
            await attempt(.memory, Self.memory(most), &results) {
                $0.add(Self.memory(most), "kB", try stage.bytesPerDevice() / 1e3, allowed: 10)
            }
            await attempt(.idle, Self.idle(most), &results) {
                let usage = try await stage.idle(seconds: scale.idleSeconds)
                $0.add(Self.idle(most), "% of a core", usage.server, allowed: 5, beside: usage)
            }
            await attempt(.nobody, Self.nobody(most), &results) { results in
                let outcome = try await stage.nobody(perSecond: Self.commitsPerSecond, seconds: scale.seconds)
                results.add(Self.nobody(most), "% of a core", outcome.usage.server, beside: outcome.usage)
                if let fewNobody {
                    results.add(
                        "\(Self.nobody(most)), as a multiple of \(few) devices'", "×",
                        outcome.usage.server / max(fewNobody, 0.01), allowed: 1.5, beside: outcome.usage)
                }
            }
            await attempt(.one, Self.one(most), &results) { results in
                let outcome = try await stage.commits(perSecond: Self.commitsPerSecond, seconds: scale.seconds)
                results.add(Self.one(most), "ms", outcome.p99, allowed: 35, beside: outcome.usage)
                if let fewOne {
                    results.add(
                        "\(Self.one(most)), as a multiple of \(few) devices'", "×", outcome.p99 / fewOne, allowed: 2,
                        beside: outcome.usage)
                }
            }
            await attempt(.reconnect, "\(most) devices reconnect at once", &results) {
                try await reconnect(&$0, stage)
            }
        }
    }

    private func reconnect(_ results: inout ScaleResults, _ stage: ScaleStage) async throws {
        let name = "\(stage.deviceCount) devices reconnect at once"
        let idle = try stage.residentBytes()
        try await stage.devices.drop()
        try await Task.sleep(for: Self.pauseBeforeReturn)
        let watch = try MemoryWatch(stage.server.processID)
        let connected = try await stage.devices.reconnect()
        try await Task.sleep(for: .seconds(1))
        let peak = watch.megabytes.greatest * 1e6
        watch.stop()
        results.add("\(name): the last is served after", "s", connected.seconds, allowed: 5)
        results.add("\(name): failures", "", Double(connected.failureCount), allowed: 0)
        if connected.failureCount > 0 { Lines.say("    \(connected.firstFailure)") }
        results.add("\(name): most memory, as a multiple of idle", "×", peak / Double(idle), allowed: 2)
        try await stage.devices.drop()
        try await Task.sleep(for: Self.givingBackTime)
        let (empty, after) = (Double(stage.emptyBytes), Double(try stage.residentBytes()))
        results.add(
            "\(name), and leave: memory given back", "%", (peak - after) / max(peak - empty, 1) * 100, required: 80)
    }

    /// The rows about devices that share a query, compared with the bare server.
    func toAll(_ results: inout ScaleResults, _ database: BenchDatabase) async {
        let (most, tenth) = (scale.deviceCount, scale.tenthCount)
        var gatewayP99: Double?
        if rows.contains(.all) {
            await stage(.gateway, .shared, tenth, &results, failure: Self.all(tenth), database) { results, stage in
                let outcome = try await stage.commits(perSecond: Self.commitsToAllPerSecond, seconds: scale.seconds)
                results.add("\(Self.all(tenth)): p99", "ms", outcome.p99, allowed: 35, beside: outcome.usage)
            }
            await stage(.gateway, .shared, most, &results, failure: Self.all(most), database) { results, stage in
                let outcome = try await stage.commits(perSecond: Self.commitsToAllPerSecond, seconds: scale.seconds)
                gatewayP99 = outcome.p99
                results.add("\(Self.all(most)): p99", "ms", outcome.p99, beside: outcome.usage)
                addCosts(outcome, Self.all(most), "the gateway", &results)
            }
        }
        guard !rows.isDisjoint(with: [.memory, .all]) else { return }
        await stage(.bare, .shared, most, &results, failure: "bare server, \(most) devices", database) {
            results, stage in
            await attempt(.memory, "bare server: memory", &results) {
                $0.add("bare server: memory of each of \(most) connections", "kB", try stage.bytesPerDevice() / 1e3)
            }
            await attempt(.all, "bare server, \(Self.all(most)): p99", &results) { results in
                let outcome = try await stage.sends(perSecond: Self.commitsToAllPerSecond, seconds: scale.seconds)
                results.add("bare server, \(Self.all(most)): p99", "ms", outcome.p99, beside: outcome.usage)
                addCosts(outcome, "bare server, \(Self.all(most))", "the server", &results)
                if let gatewayP99 {
                    results.add(
                        "\(Self.all(most)): p99, as a multiple of the bare server's", "×", gatewayP99 / outcome.p99,
                        allowed: 2, beside: outcome.usage)
                }
            }
        }
    }

    private func addCosts(
        _ outcome: ScaleStage.Outcome, _ name: String, _ server: String, _ results: inout ScaleResults
    ) {
        results.add("\(name): CPU of \(server)", "% of a core", outcome.usage.server)
        results.add("\(name): CPU of the devices", "% of a core", outcome.usage.devices)
        results.add("\(name): messages for a value", "bytes", outcome.bytesPerValue)
    }

    private static func memory(_ count: Int) -> String { "memory of each of \(count) idle devices" }
    private static func idle(_ count: Int) -> String { "idle, \(count) devices: CPU of the gateway" }
    private static func nobody(_ count: Int) -> String { "50 commits/s that concern nobody, \(count) devices: CPU" }
    private static func one(_ count: Int) -> String { "50 commits/s, each to one of \(count) devices: p99" }
    private static func all(_ count: Int) -> String { "5 commits/s to all of \(count) devices" }
}
