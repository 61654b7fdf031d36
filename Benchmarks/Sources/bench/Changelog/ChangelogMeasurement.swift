import Foundation
import PostgresClient

/// What the changelog costs services that write plain SQL: the same statements alternate between a table with its
/// triggers and a copy without them.
struct ChangelogMeasurement: Measurable {
    /// The longest allowed time, as a multiple of the time without triggers, for the kinds that have a limit.
    static let allowed: [Kind: Double] = [.insertMany: 1.5, .updateOne: 1.3]

    enum Kind: String, CaseIterable {
        case insertMany = "INSERT of many rows"
        case updateMany = "UPDATE of many rows"
        case updateOne = "UPDATE of one row"
        case insertOne = "INSERT of one row"
    }

    let sizes: Sizes.Changelog

    /// The name of the deciding figure.
    static func price(_ kind: Kind) -> String { "\(kind.rawValue), as a multiple of without" }

    func measure(_ database: BenchDatabase) async throws -> Measurement {
        _ = try await database.prepare()
        var result = Measurement(
            MeasurementName.changelog.rawValue,
            conditions: "the table of Listing, and a copy of it with the same indexes and no triggers; "
                + "\(sizes.rowCount) rows by statements of \(sizes.rowsPerStatement), one a transaction; "
                + "\(sizes.singleCount) prepared statements of one row in one transaction")
        let connection = try await PostgresConnection.connect(PostgresConfiguration(database.url))
        defer { Task { await connection.close() } }
        try await connection.execute("CREATE TABLE plain (LIKE listing INCLUDING ALL)")
        var times: [Kind: (without: [Double], with: [Double])] = [:]
        // The first round warms caches.
        for round in 0...sizes.runCount {
            let seconds = try await run(connection)
            for (kind, pair) in seconds where round > 0 {
                times[kind, default: ([], [])].without.append(pair[0])
                times[kind, default: ([], [])].with.append(pair[1])
            }
        }
        for kind in Kind.allCases {
            guard let (without, with) = times[kind] else { continue }
            let count = Double(kind == .insertMany || kind == .updateMany ? sizes.rowCount : sizes.singleCount)
            result.figures += [
                Figure("\(kind.rawValue), without", "µs/row", runs: without.map { $0 / count * 1e6 }),
                Figure("\(kind.rawValue), with the changelog", "µs/row", runs: with.map { $0 / count * 1e6 }),
            ]
            var price = Figure(Self.price(kind), "×", runs: zip(with, without).map { $0 / $1 })
            price.allowed = Self.allowed[kind]
            result.figures.append(price)
        }
        return result
    }

    /// Without triggers, and with them.
    private static let tables = ["plain", "listing"]

    private static func key(_ number: String) -> String { "decode(lpad(to_hex(\(number)), 24, '0'), 'hex')" }

    /// Does everything once, on empty tables.
    /// - Returns: the seconds for each table.
    private func run(_ connection: PostgresConnection) async throws -> [Kind: [Double]] {
        let starts = stride(from: 0, to: sizes.rowCount, by: sizes.rowsPerStatement).map(Int64.init)
        let step = PostgresParameter.int64(Int64(sizes.rowsPerStatement))
        let singles = Array(0..<Int64(sizes.singleCount))
        func vacuum() async throws {
            for table in Self.tables { try await connection.execute("VACUUM ANALYZE \(table)") }
        }
        var times: [Kind: [Double]] = [:]
        for table in Self.tables { try await connection.execute("TRUNCATE \(table)") }
        times[.insertMany] = try await seconds(of: starts, connection) { table, start in
            PostgresStatement(
                """
                INSERT INTO \(table) (_id, location, price, bedrooms)
                SELECT \(Self.key("i")), 'place ' || i % 50, i, 3 FROM generate_series($1::bigint, $1 + $2 - 1) AS i
                """, [.int64(start), step])
        }
        try await vacuum()
        times[.updateMany] = try await seconds(of: starts, connection) { table, start in
            PostgresStatement(
                "UPDATE \(table) SET bedrooms = bedrooms + 1 WHERE _id BETWEEN \(Self.key("$1::bigint")) "
                    + "AND \(Self.key("$1 + $2 - 1"))", [.int64(start), step])
        }
        try await vacuum()
        try await connection.execute("BEGIN")
        times[.updateOne] = try await seconds(of: singles, connection) { table, number in
            PostgresStatement(
                "UPDATE \(table) SET price = $2 WHERE _id = \(Self.key("$1::bigint"))",
                [.int64(number % Int64(sizes.rowCount)), .int64(number * 7)])
        }
        try await connection.execute("COMMIT; BEGIN")
        times[.insertOne] = try await seconds(of: singles, connection) { table, number in
            PostgresStatement(
                "INSERT INTO \(table) (_id, location, price, bedrooms) VALUES (\(Self.key("$1::bigint")), 'x', $2, 1)",
                [.int64(Int64(sizes.rowCount) + number), .int64(number)])
        }
        try await connection.execute("COMMIT")
        return times
    }

    /// Runs statements one after the other, as services do, each alternately on both tables, so that other load on
    /// the machine affects both alike.
    /// - Returns: the seconds for each table.
    private func seconds(
        of numbers: [Int64], _ connection: PostgresConnection,
        _ statement: (_ table: String, _ number: Int64) -> PostgresStatement
    ) async throws -> [Double] {
        var seconds = [Double](repeating: 0, count: Self.tables.count)
        for number in numbers {
            for (index, table) in Self.tables.enumerated() {
                let statement = statement(table, number)
                seconds[index] += try await Monotonic.seconds {
                    try await connection.query(statement.sql, statement.parameters)
                }
            }
        }
        return seconds
    }
}
