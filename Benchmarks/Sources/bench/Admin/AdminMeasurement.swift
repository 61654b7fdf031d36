import Foundation
import PostgresClient

/// Lists of the admin server's API, compared with empty requests on the same HTTP stack and with the same statements
/// on libpq (`pgbench`). Its exports, compared with COPY.
struct AdminMeasurement: Measurable {
    static let connectionCount = 16
    /// The longest allowed median time for a page of a long list.
    static let allowedMilliseconds = 50.0

    let sizes: Sizes.Admin

    private struct Server {
        let process: BenchProcess
        let port: Int
        let token: String
    }

    func measure(_ database: BenchDatabase) async throws -> Measurement {
        var result = Measurement(
            MeasurementName.admin.rawValue,
            conditions:
                "\(sizes.rowCount) and \(sizes.longRowCount) listings; pages of \(AdminList.pageSize); "
                + "\(Self.connectionCount) connections that stay open, each waiting for its answer; \(sizes.runCount) "
                + "runs of \(sizes.seconds) s of each kind in turn; the load comes from one thread on the same machine")
        let token = try await database.prepare()
        let process = try BenchProcess(
            ["admin"],
            environment: [BenchDatabase.variable: database.url, "TOMBOLO_JWT_SECRET": database.tokenSecret])
        defer { process.end() }
        guard let port = Int(try await process.expect("port")) else {
            throw BenchError("The admin server has no port.")
        }
        let server = Server(process: process, port: port, token: token)
        try await insert(sizes.rowCount, database)
        result.figures += try await lists(server, database)
        try await insert(sizes.longRowCount, database)
        result.figures += try await pages(server)
        result.figures += try await AdminExports(
            port: server.port, token: server.token, processID: process.processID, rowCount: sizes.longRowCount
        ).measure(database, runCount: sizes.runCount)
        return result
    }

    private func insert(_ count: Int, _ database: BenchDatabase) async throws {
        try await database.pool.execute("TRUNCATE listing")
        try await database.pool.query(
            """
            INSERT INTO listing (_id, location, price, bedrooms)
            SELECT decode(lpad(to_hex(i), 24, '0'), 'hex'), 'place ' || lpad(i::text, 8, '0'), 100000 + i % 400000, i % 100
            FROM generate_series(0::bigint, $1::bigint - 1) AS i
            """, [.int64(Int64(count))])
        try await database.pool.execute("VACUUM ANALYZE listing")
    }

    // MARK: Many clients

    private func lists(_ server: Server, _ database: BenchDatabase) async throws -> [Figure] {
        let raw = try PgBench(url: database.url)
        var outcomes: [AdminList?: [HTTPLoad.Outcome]] = [:]
        var costs: [AdminList?: [String: [Double]]] = [:]
        var rawRates: [AdminList: [Double]] = [:]
        let (sizes, token) = (sizes, server.token)
        // The first round of each warms caches and connections.
        for round in 0...sizes.runCount {
            let seconds = round == 0 ? sizes.warmUpSeconds : sizes.seconds
            for list in [nil] + AdminList.allCases.map(Optional.some) {
                let times = try await ProcessorTimes([("the server", server.process)], database)
                let outcome = try await Blocking.run {
                    try HTTPLoad(port: server.port, connectionCount: Self.connectionCount).run(seconds: seconds) { _ in
                        HTTPLoad.request("GET", list?.path(rowCount: sizes.rowCount) ?? "/health", bearer: token)
                    }
                }
                if let list, round > 0, let raw {
                    let rate = try await raw.rate(
                        list.sql(rowCount: sizes.rowCount), connectionCount: Self.connectionCount,
                        count: list.rawCount)
                    rawRates[list, default: []].append(rate)
                }
                guard round > 0 else { continue }
                outcomes[list, default: []].append(outcome)
                for (side, cpuSeconds) in times.seconds() {
                    let milliseconds = cpuSeconds * 1e3 / Double(outcome.milliseconds.count)
                    costs[list, default: [:]][side, default: []].append(milliseconds)
                }
            }
        }
        return ([nil] + AdminList.allCases.map(Optional.some)).flatMap { list in
            let name = list?.rawValue ?? "GET /health"
            let found = outcomes[list] ?? []
            let all = found.flatMap(\.milliseconds)
            var rate = Figure("\(name): rate", "1/s", runs: found.map(\.perSecond))
            rate.required = list?.wanted
            var figures = [rate]
            if let list, let rates = rawRates[list] { figures.append(Figure("\(name): pgbench", "1/s", runs: rates)) }
            figures += [
                Figure("\(name): p50", "ms", all.quantile(0.5)), Figure("\(name): p99", "ms", all.quantile(0.99)),
            ]
            for (side, runs) in (costs[list] ?? [:]).sorted(by: { $0.key < $1.key }) {
                figures.append(Figure("\(name): CPU of \(side) for each", "ms", runs: runs))
            }
            return figures
        }
    }

    // MARK: One client, a long list

    private func pages(_ server: Server) async throws -> [Figure] {
        let (sizes, token) = (sizes, server.token)
        func times(_ path: @escaping @Sendable () -> String) async throws -> [Double] {
            try await Blocking.run {
                try HTTPLoad(port: server.port, connectionCount: 1).run(seconds: sizes.seconds) { _ in
                    HTTPLoad.request("GET", path(), bearer: token)
                }
            }.milliseconds
        }
        let cases: [(String, @Sendable () -> String)] = [
            ("the first page", { "/api/listings?sort=location" }),
            (
                "the first page with the total, of half of the list on average",
                { AdminList.sortedWithNewTotal.path(rowCount: sizes.longRowCount) }
            ),
            (
                "a page by its number",
                {
                    let pageCount = min(sizes.longRowCount, 100_000) / AdminList.pageSize
                    return "/api/listings?sort=location&page%5Bsize%5D=\(AdminList.pageSize)"
                        + "&page%5Bnumber%5D=\(Int.random(in: 1...pageCount))"
                }
            ),
            ("a page from a random place on", { AdminList.sortedAnew.path(rowCount: sizes.longRowCount) }),
        ]
        var figures: [Figure] = []
        for (name, path) in cases {
            _ = try await times(path)
            var figure = Figure("\(sizes.longRowCount) rows, \(name): p50", "ms", samples: try await times(path))
            figure.allowed = Self.allowedMilliseconds
            figures.append(figure)
        }
        return figures
    }
}
