/// Requests on several connections at once, and their cost to the gateway.
struct RequestRound: Sendable {
    var perSecond: Double
    /// The time of each request, from sending it until the whole response has arrived.
    var milliseconds: [Double]
    /// CPU time of the gateway for each request; nil if the system doesn't report it.
    var gatewayCPUMilliseconds: Double?

    /// Makes the requests. Opening the connections is included, but takes little time compared with the requests.
    /// - Parameters:
    ///   - connectionCount: each connection has its own thread, and takes its share of the requests.
    ///   - request: makes the request with this number on the connection with this number, both from 0.
    static func run(
        _ count: Int, connectionCount: Int, _ gateway: GatewayProcess,
        _ request: @escaping @Sendable (_ connection: LoginConnection, _ place: Int, _ number: Int) throws -> Void
    ) async throws -> RequestRound {
        let cpuStart = ProcessUsage.cpuSeconds(gateway.process.processID)
        let start = Monotonic.nanoseconds
        let milliseconds = try await withThrowingTaskGroup(of: [Double].self) { group in
            for place in 0..<connectionCount {
                group.addTask {
                    try await Blocking.run {
                        let connection = try LoginConnection(port: gateway.port)
                        return try stride(from: place, to: count, by: connectionCount).map { number in
                            let start = Monotonic.nanoseconds
                            try request(connection, place, number)
                            return Double(Monotonic.nanoseconds - start) / 1e6
                        }
                    }
                }
            }
            return try await group.reduce(into: [Double]()) { $0 += $1 }
        }
        let seconds = Double(Monotonic.nanoseconds - start) / 1e9
        let cpu = ProcessUsage.cpuSeconds(gateway.process.processID)
        return RequestRound(
            perSecond: Double(count) / seconds, milliseconds: milliseconds,
            gatewayCPUMilliseconds: cpuStart.flatMap { start in cpu.map { ($0 - start) * 1e3 / Double(count) } })
    }
}

extension [RequestRound] {
    /// The rate, the latencies and the gateway's CPU time.
    /// - Parameter allowed: the limit on the gateway's CPU time for a request in milliseconds, if there is one.
    func figures(_ name: String, allowed: Double? = nil) -> [Figure] {
        let milliseconds = flatMap(\.milliseconds)
        var figures = [
            Figure("\(name): rate", "1/s", runs: map(\.perSecond)),
            Figure("\(name): p50", "ms", milliseconds.quantile(0.5)),
            Figure("\(name): p99", "ms", milliseconds.quantile(0.99)),
        ]
        let costs = compactMap(\.gatewayCPUMilliseconds)
        if !costs.isEmpty {
            var cost = Figure("\(name): CPU time of the gateway for each", "ms", runs: costs)
            cost.allowed = allowed
            figures.append(cost)
        }
        return figures
    }
}
