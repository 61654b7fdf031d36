import Foundation

/// A server and its light devices, each in its own process, and the measurements on them.
final class ScaleStage {
    /// The number of devices to connect first, so that the server's pools and caches are warm.
    static let warmingCount = 50
    static let warmingCommits = 20
    /// How often, and for how long, to ask the devices after the writers end whether all values in flight have
    /// arrived.
    static let (settleInterval, settleLimit) = (Duration.seconds(1), Duration.seconds(60))
    /// How long after the last connection opened or closed the server's memory is read.
    static let memorySettleTime = Duration.seconds(5)

    enum Server: Sendable { case gateway, bare }

    /// CPU time, in percent of a core.
    struct Usage: Sendable {
        var server: Double
        var devices: Double
        /// Everything unrelated to the measurement, which makes figures worse.
        var others: Double
    }

    /// The server's performance during a series of commits.
    struct Outcome {
        var milliseconds: [Double]
        var usage: Usage
        /// The bytes of messages for each value that arrived.
        var bytesPerValue: Double

        var p99: Double { milliseconds.quantile(0.99) }
    }

    let server: BenchProcess
    let devices: LightDevices
    let port: Int
    let wish: ScaleWish
    /// The server's resident memory without devices, in bytes.
    let emptyBytes: Int64
    private(set) var deviceCount = 0
    private let database: BenchDatabase
    private let folder: TemporaryFolder
    private var nextCommit = ScaleListings.firstCommit

    /// Starts a server and warms it up.
    static func start(
        _ kind: Server, _ wish: ScaleWish, tokens: [String], _ database: BenchDatabase
    ) async throws -> ScaleStage {
        let server: BenchProcess
        let port: Int
        switch kind {
        case .gateway:
            let gateway = try await GatewayProcess.start(database, isQuiet: true)
            (server, port) = (gateway.process, gateway.port)
        case .bare:
            server = try BenchProcess(["bare-server"])
            port = Int(try await server.expect("port")) ?? 0
        }
        let folder = try TemporaryFolder()
        let devices = try LightDevices(port: port, tokens: tokens, wish: wish, folder: folder)
        try await devices.connect(warmingCount)
        try await devices.drop()
        try await Task.sleep(for: memorySettleTime)
        return ScaleStage(
            server: server, port: port, devices: devices, wish: wish, emptyBytes: try residentBytes(server),
            database: database, folder: folder)
    }

    private init(
        server: BenchProcess, port: Int, devices: LightDevices, wish: ScaleWish, emptyBytes: Int64,
        database: BenchDatabase, folder: TemporaryFolder
    ) {
        (self.server, self.port, self.devices, self.wish) = (server, port, devices, wish)
        (self.emptyBytes, self.database, self.folder) = (emptyBytes, database, folder)
    }

    func end() {
        devices.end()
        server.end()
        folder.remove()
    }

    func connect(_ count: Int) async throws {
        try await devices.connect(count)
        deviceCount = count
        try await Task.sleep(for: Self.memorySettleTime)
        _ = try await devices.arrivals()
    }

    /// The server's additional memory with devices, in bytes per device.
    func bytesPerDevice() throws -> Double {
        Double(try Self.residentBytes(server) - emptyBytes) / Double(deviceCount)
    }

    func residentBytes() throws -> Int64 { try Self.residentBytes(server) }

    static func residentBytes(_ process: BenchProcess) throws -> Int64 {
        guard let bytes = ProcessUsage.residentBytes(process.processID) else {
            throw BenchError("The memory of a process cannot be read on this system.")
        }
        return bytes
    }

    /// The CPU time while the server is idle.
    func idle(seconds: Int) async throws -> Usage {
        try await usage { try await Task.sleep(for: .seconds(seconds)) }
    }

    /// Commits that concern no device.
    func nobody(perSecond: Double, seconds: Int) async throws -> Outcome {
        try await commit(perSecond: perSecond, seconds: seconds, concerned: 0) {
            ScaleListings.firstOther + $0 % ScaleListings.sharedCount
        }
    }

    /// Commits that concern one device each, or all of them, depending on what the devices subscribe to.
    func commits(perSecond: Double, seconds: Int) async throws -> Outcome {
        let count = deviceCount
        switch wish {
        case .own:
            return try await commit(perSecond: perSecond, seconds: seconds, concerned: 1) {
                ScaleListings.own($0, deviceCount: count)
            }
        case .shared:
            return try await commit(perSecond: perSecond, seconds: seconds, concerned: count) {
                ScaleListings.firstShared + $0 % ScaleListings.sharedCount
            }
        }
    }

    /// A bare server's messages to all devices, instead of commits.
    func sends(perSecond: Double, seconds: Int) async throws -> Outcome {
        try await measure(Int(perSecond * Double(seconds)), concerned: deviceCount) { [self] first, count in
            let file = folder.path("sent")
            try server.say("send \(count) \(perSecond) \(first) \(file)")
            _ = try await server.expect("sent")
            return try PairFile.read(file).map { PlainWriter.Commit(number: $0.commit, nanoseconds: $0.nanoseconds) }
        }
    }

    private func commit(
        perSecond: Double, seconds: Int, concerned: Int, _ listing: @escaping @Sendable (Int) -> Int
    ) async throws -> Outcome {
        try await measure(Int(perSecond * Double(seconds)), concerned: concerned) { [self] first, count in
            try await PlainWriter(
                pool: database.pool, commitsPerSecond: perSecond, commitCount: count, firstNumber: first,
                key: { ListingKey.bytes(listing($0)) }
            ).run()
        }
    }

    /// Runs commits twice: first to warm up, then to measure.
    private func measure(
        _ count: Int, concerned: Int, _ commits: (_ first: Int, _ count: Int) async throws -> [PlainWriter.Commit]
    ) async throws -> Outcome {
        _ = try await commits(nextCommit, min(Self.warmingCommits, count))
        nextCommit += Self.warmingCommits
        _ = try await arrivals(min(Self.warmingCommits, count) * concerned, from: ScaleListings.firstCommit)
        let first = nextCommit
        nextCommit += count
        var made: [PlainWriter.Commit] = []
        let usage = try await usage { made = try await commits(first, count) }
        let (arrivals, bytes) = try await arrivals(count * concerned, from: first)
        let milliseconds = try Self.delays(made, arrivals, concerned: concerned)
        return Outcome(
            milliseconds: milliseconds, usage: usage,
            bytesPerValue: arrivals.isEmpty ? 0 : Double(bytes) / Double(arrivals.count))
    }

    /// Waits until this many values have arrived from commits with this number or a later one.
    private func arrivals(_ count: Int, from first: Int) async throws -> (
        pairs: [(commit: Int, nanoseconds: Int64)], byteCount: Int
    ) {
        let start = ContinuousClock.now
        var all: (pairs: [(commit: Int, nanoseconds: Int64)], byteCount: Int) = ([], 0)
        repeat {
            try await Task.sleep(for: Self.settleInterval)
            let more = try await devices.arrivals()
            all.pairs += more.pairs.filter { $0.commit >= first }
            all.byteCount += more.byteCount
        } while all.pairs.count < count && start.duration(to: .now) < Self.settleLimit
        return all
    }

    private func usage(_ body: () async throws -> Void) async throws -> Usage {
        let postmaster = try await ProcessUsage.postmaster(database.pool)
        func seconds() throws -> (server: Double, devices: Double, others: Double) {
            guard let server = ProcessUsage.cpuSeconds(server.processID),
                let devices = ProcessUsage.cpuSeconds(devices.process.processID),
                let own = ProcessUsage.cpuSeconds(getpid()), let all = ProcessUsage.busySeconds()
            else { throw BenchError("The CPU time of processes cannot be read on this system.") }
            let postgres = postmaster.flatMap(ProcessUsage.treeCPUSeconds) ?? 0
            return (server, devices, all - server - devices - own - postgres)
        }
        let clock = Monotonic.nanoseconds
        let start = try seconds()
        try await body()
        let percent = 100 / (Double(Monotonic.nanoseconds - clock) / 1e9)
        let end = try seconds()
        return Usage(
            server: (end.server - start.server) * percent, devices: (end.devices - start.devices) * percent,
            others: max(0, end.others - start.others) * percent)
    }

    /// The time from when COMMIT returns until a device had the value, for each commit and each device that it
    /// concerns.
    /// - Throws: unless each commit arrived at each device exactly once.
    private static func delays(
        _ commits: [PlainWriter.Commit], _ arrivals: [(commit: Int, nanoseconds: Int64)], concerned: Int
    ) throws -> [Double] {
        let times = Dictionary(uniqueKeysWithValues: commits.map { ($0.number, $0.nanoseconds) })
        var counts: [Int: Int] = [:]
        var milliseconds: [Double] = []
        milliseconds.reserveCapacity(arrivals.count)
        for arrival in arrivals {
            guard let time = times[arrival.commit] else { continue }
            counts[arrival.commit, default: 0] += 1
            milliseconds.append(Double(arrival.nanoseconds - time) / 1e6)
        }
        let missing = commits.reduce(0) { $0 + max(0, concerned - counts[$1.number, default: 0]) }
        let repeated = commits.reduce(0) { $0 + max(0, counts[$1.number, default: 0] - concerned) }
        guard missing == 0, repeated == 0 else {
            throw BenchError(
                "Of \(commits.count * concerned) values, \(missing) hadn't arrived \(settleLimit) after the last "
                    + "commit, and \(repeated) arrived twice.")
        }
        return milliseconds
    }
}
