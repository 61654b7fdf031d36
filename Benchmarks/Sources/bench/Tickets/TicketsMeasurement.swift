import Foundation

/// The ticket API's list and move, compared with empty requests on the same HTTP stack and with the bare statements
/// on libpq (`pgbench`).
struct TicketsMeasurement: Measurable {
    static let connectionCount = 32

    /// The requests.
    enum Request: String, CaseIterable {
        case nothing = "GET /health"
        case list = "list tickets, nobody logged in"
        case ownList = "list tickets, logged in"
        case move = "move a ticket"

        /// The required rate per second, and the 99th percentile's limit in milliseconds.
        var wanted: (rate: Double, p99: Double)? {
            switch self {
            case .list: (12_000, 10)
            case .move: (6_000, 20)
            case .nothing, .ownList: nil
            }
        }

        var rate: String { "\(rawValue): rate" }
        var p99: String { "\(rawValue): p99" }
    }

    let sizes: Sizes.Tickets

    private var data: TicketData { TicketData(eventCount: sizes.eventCount, ticketCount: sizes.ticketCount) }

    func measure(_ database: BenchDatabase) async throws -> Measurement {
        let token = try await database.prepare()
        let data = data
        try await data.insert(database.pool)
        let process = try BenchProcess(
            ["tickets"],
            environment: [BenchDatabase.variable: database.url, "TOMBOLO_JWT_SECRET": database.tokenSecret])
        defer { process.end() }
        guard let port = Int(try await process.expect("port")) else { throw BenchError("The ticket API has no port.") }
        var result = Measurement(
            MeasurementName.tickets.rawValue,
            conditions:
                "\(sizes.eventCount) events of \(sizes.ticketCount) tickets; \(Self.connectionCount) connections "
                + "that stay open, each waiting for its answer; a random event each time; \(sizes.runCount) runs of "
                + "\(sizes.seconds) s of each kind in turn; the load comes from one thread on the same machine")
        @Sendable func next(_ request: Request) -> [UInt8] {
            let list = { "/events/\(data.event(.random(in: 0..<data.eventCount)))/tickets" }
            return switch request {
            case .nothing: HTTPLoad.request("GET", "/health")
            case .list: HTTPLoad.request("GET", list())
            case .ownList: HTTPLoad.request("GET", list(), bearer: token)
            case .move: Self.move(data, token)
            }
        }
        let raw = try RawTickets(data: data, url: database.url)
        var outcomes: [Request: [HTTPLoad.Outcome]] = [:]
        var costs: [Request: [String: [Double]]] = [:]
        var rawRates: [String: [Double]] = [:]
        // The first round of each warms caches and connections.
        for round in 0...sizes.runCount {
            let seconds = round == 0 ? sizes.warmUpSeconds : sizes.seconds
            for request in Request.allCases {
                let times = try await ProcessorTimes([("the server", process)], database)
                let outcome = try await Blocking.run {
                    try HTTPLoad(port: port, connectionCount: Self.connectionCount).run(seconds: seconds) { _ in
                        next(request)
                    }
                }
                guard round > 0 else { continue }
                outcomes[request, default: []].append(outcome)
                for (side, cpuSeconds) in times.seconds() {
                    let milliseconds = cpuSeconds * 1e3 / Double(outcome.milliseconds.count)
                    costs[request, default: [:]][side, default: []].append(milliseconds)
                }
            }
        }
        // At the end, since their dead rows would slow down the API.
        if let raw {
            for _ in 0..<sizes.runCount {
                for statement in RawTickets.Statement.allCases {
                    let rate = try await raw.rate(statement, connectionCount: Self.connectionCount)
                    rawRates[statement.rawValue, default: []].append(rate)
                }
            }
        }
        for request in Request.allCases {
            let found = outcomes[request] ?? []
            let all = found.flatMap(\.milliseconds)
            var rate = Figure(request.rate, "1/s", runs: found.map(\.perSecond))
            var p99 = Figure(request.p99, "ms", all.quantile(0.99))
            (rate.required, p99.allowed) = (request.wanted?.rate, request.wanted?.p99)
            result.figures += [rate, Figure("\(request.rawValue): p50", "ms", all.quantile(0.5)), p99]
            for (side, runs) in (costs[request] ?? [:]).sorted(by: { $0.key < $1.key }) {
                result.figures.append(Figure("\(request.rawValue): CPU of \(side) for each", "ms", runs: runs))
            }
        }
        result.figures += rawRates.sorted { $0.key < $1.key }.map {
            Figure("pgbench: \($0.key)", "1/s", runs: $0.value)
        }
        return result
    }

    private static func move(_ data: TicketData, _ token: String) -> [UInt8] {
        let event = Int.random(in: 0..<data.eventCount)
        let ticket = Int.random(in: 0..<data.ticketCount)
        var other = Int.random(in: 0..<data.ticketCount - 1)
        if other >= ticket { other += 1 }
        let word = Bool.random() ? "before" : "after"
        return HTTPLoad.request(
            "POST", "/tickets/\(data.ticket(ticket, of: event))/move", bearer: token,
            body: #"{"\#(word)":"\#(data.ticket(other, of: event))"}"#)
    }
}
