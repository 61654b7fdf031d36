import Foundation
import PostgresClient

/// What the changelog costs services that write plain SQL: the same statements on a table with its triggers and on a copy
/// of it without, in turns.
struct ChangelogMeasurement: Measurable {
    /// The most that statements may take, as a multiple of the time without triggers, where that is decided.
    static let allowed: [Kind: Double] = [.insertMany: 1.5, .updateOne: 1.3]

    enum Kind: String, CaseIterable {
        case insertMany = "INSERT of many rows"
        case updateMany = "UPDATE of many rows"
        case updateOne = "UPDATE of one row"
        case insertOne = "INSERT of one row"
    }

    let sizes: Sizes.Changelog

    /// The name of the figure that counts.
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
        // The first round fills caches.
        for round in 0...sizes.runCount {
            for table in ["plain", "listing"] {
                for (kind, seconds) in try await run(table, connection) where round > 0 {
                    if table == "plain" {
                        times[kind, default: ([], [])].without.append(seconds)
                    } else {
                        times[kind, default: ([], [])].with.append(seconds)
                    }
                }
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

    /// Everything once, on an empty table.
    private func run(_ table: String, _ connection: PostgresConnection) async throws -> [Kind: Double] {
        func key(_ number: String) -> String { "decode(lpad(to_hex(\(number)), 24, '0'), 'hex')" }
        let starts = stride(from: 0, to: sizes.rowCount, by: sizes.rowsPerStatement).map(Int64.init)
        let step = PostgresParameter.int64(Int64(sizes.rowsPerStatement))
        var times: [Kind: Double] = [:]
        try await connection.execute("TRUNCATE \(table)")
        times[.insertMany] = try await Monotonic.seconds {
            for start in starts {
                try await connection.query(
                    """
                    INSERT INTO \(table) (_id, location, price, bedrooms)
                    SELECT \(key("i")), 'place ' || i % 50, i, 3 FROM generate_series($1::bigint, $1 + $2 - 1) AS i
                    """, [.int64(start), step])
            }
        }
        try await connection.execute("VACUUM ANALYZE \(table)")
        times[.updateMany] = try await Monotonic.seconds {
            for start in starts {
                try await connection.query(
                    "UPDATE \(table) SET bedrooms = bedrooms + 1 WHERE _id BETWEEN \(key("$1::bigint")) "
                        + "AND \(key("$1 + $2 - 1"))", [.int64(start), step])
            }
        }
        try await connection.execute("VACUUM ANALYZE \(table)")
        times[.updateOne] = try await singles(connection) { number in
            PostgresStatement(
                "UPDATE \(table) SET price = $2 WHERE _id = \(key("$1::bigint"))",
                [.int64(number % Int64(sizes.rowCount)), .int64(number * 7)])
        }
        times[.insertOne] = try await singles(connection) { number in
            PostgresStatement(
                "INSERT INTO \(table) (_id, location, price, bedrooms) VALUES (\(key("$1::bigint")), 'x', $2, 1)",
                [.int64(Int64(sizes.rowCount) + number), .int64(number)])
        }
        return times
    }

    /// Statement after statement, each waiting for the one before, as services do.
    private func singles(
        _ connection: PostgresConnection, _ statement: (Int64) -> PostgresStatement
    ) async throws -> Double {
        let statements = (0..<Int64(sizes.singleCount)).map(statement)
        try await connection.execute("BEGIN")
        let seconds = try await Monotonic.seconds {
            for statement in statements { try await connection.query(statement.sql, statement.parameters) }
        }
        try await connection.execute("COMMIT")
        return seconds
    }
}
