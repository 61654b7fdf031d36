extension ScaleMeasurement {
    /// The number of listings that hostile devices request: more than the system's buffers hold.
    private static let listingCount = 100_000
    private static let commitsPerSecond = 50.0
    /// The pause between the first attacks and the measurement.
    private static let attackingTime = Duration.seconds(3)

    /// Measures one user's devices while another user's devices attack.
    func hostile(_ results: inout ScaleResults, _ database: BenchDatabase) async {
        for kind in scale.hostileKinds {
            let name = "p99 beside \(scale.hostileCount) hostile: \(kind.rawValue)"
            await attempt(.hostile, name, &results) { try await attack(kind, name, &$0, database) }
        }
    }

    private func attack(
        _ kind: HostileKind, _ name: String, _ results: inout ScaleResults, _ database: BenchDatabase
    ) async throws {
        let count = scale.fewCount
        let token = try await database.prepare()
        try await ScaleListings.insert(deviceCount: count, otherCount: Self.listingCount, database)
        let hostileToken = try await database.token(of: "hostile")
        let stage = try await ScaleStage.start(.gateway, .own, tokens: [token], database)
        defer { stage.end() }
        try await stage.connect(count)
        var alone: [Double] = []
        for _ in 1...scale.runCount {
            alone.append(try await stage.commits(perSecond: Self.commitsPerSecond, seconds: scale.seconds / 2).p99)
        }
        let hostile = try BenchProcess([
            "hostile-devices", "--port", "\(stage.port)", "--token", hostileToken, "--kind", kind.rawValue, "--count",
            "\(scale.hostileCount)",
        ])
        defer { hostile.end() }
        _ = try await hostile.expect("attacking")
        try await Task.sleep(for: Self.attackingTime)
        for _ in 1...scale.runCount {
            let p99 = try await stage.commits(perSecond: Self.commitsPerSecond, seconds: scale.seconds / 2).p99
            results.add(name, "ms", p99)
            results.add("\(name), as a multiple of without", "×", p99 / alone.median, allowed: 2)
        }
        try hostile.say("report")
        Lines.say("    " + (try await hostile.expect("attacked")))
    }
}
