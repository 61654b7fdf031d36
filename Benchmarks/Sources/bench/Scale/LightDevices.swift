/// Light devices, in their own process.
struct LightDevices: Sendable {
    /// The number of concurrent connection attempts, unless all devices connect at once.
    static let window = 100
    /// The time limit for connecting.
    static let connectTimeout = Duration.seconds(320)

    struct Connected: Sendable {
        var seconds: Double
        var failureCount: Int
        var firstFailure: String
    }

    let process: BenchProcess
    private let folder: TemporaryFolder

    /// Registers enough users to keep within the limit of devices for each.
    /// - Parameter first: the token of the first user.
    static func tokens(first: String, deviceCount: Int, _ database: BenchDatabase) async throws -> [String] {
        var tokens = [first]
        for user in 1..<(max(deviceCount - 1, 0) / LightCrew.devicesPerUser + 1) {
            tokens.append(try await database.token(of: "user-\(user)"))
        }
        return tokens
    }

    /// - Parameter tokens: one for each ``LightCrew/devicesPerUser`` devices.
    init(port: Int, tokens: [String], wish: ScaleWish, folder: TemporaryFolder) throws {
        process = try BenchProcess(
            ["light-devices", "--port", "\(port)", "--wish", wish.rawValue] + tokens.flatMap { ["--token", $0] })
        self.folder = folder
    }

    func connect(_ count: Int) async throws {
        try process.say("connect \(count) \(Self.window)")
        let connected = try await connected()
        guard connected.failureCount == 0 else {
            throw BenchError(
                "\(connected.failureCount) of \(count) devices couldn't connect; the first: \(connected.firstFailure)")
        }
    }

    func reconnect() async throws -> Connected {
        try process.say("reconnect")
        return try await connected()
    }

    func drop() async throws {
        try process.say("drop")
        _ = try await process.expect("dropped")
    }

    /// The arrivals since the last call.
    /// - Throws: if a connection was lost, or a device received a listing that it didn't subscribe to.
    func arrivals() async throws -> (pairs: [(commit: Int, nanoseconds: Int64)], byteCount: Int) {
        let file = folder.path("arrivals")
        try process.say("report \(file)")
        let words = try await process.expect("written").split(separator: " ", maxSplits: 3)
        guard words.count >= 3, let lost = Int(words[0]), let wrong = Int(words[1]), let bytes = Int(words[2]) else {
            throw BenchError("The devices didn't report what they received.")
        }
        guard lost == 0, wrong == 0 else {
            throw BenchError(
                "\(lost) connections were lost, \(wrong) values went to the wrong device. "
                    + (words.count > 3 ? String(words[3]) : ""))
        }
        return (try PairFile.read(file), bytes)
    }

    func end() { process.end() }

    private func connected() async throws -> Connected {
        let words = try await process.expect("connected", within: Self.connectTimeout)
            .split(separator: " ", maxSplits: 2)
        guard words.count >= 2, let seconds = Double(words[0]), let failures = Int(words[1]) else {
            throw BenchError("The devices didn't report how they connected.")
        }
        return Connected(
            seconds: seconds, failureCount: failures, firstFailure: words.count > 2 ? String(words[2]) : "")
    }
}
