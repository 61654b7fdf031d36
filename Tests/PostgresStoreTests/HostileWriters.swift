import PostgresClient
import RandomValues
import Synchronization

/// Services that write plain SQL concurrently: transfers between hot accounts that preserve the sum, children inserted after their
/// parents, transaction IDs assigned long before the write, long transactions, many rows in one statement, asynchronous commits.
struct HostileWriters: Sendable {
    static let accountCount = 12
    static let childCount = 30
    static let opening = 1_000

    let configuration: PostgresConfiguration
    let seed: UInt64
    private let counters: Counters

    private final class Counters: Sendable {
        let commits = Atomic<Int>(0)
        let nextID = Atomic<Int>(0)
        let mustStop = Atomic<Bool>(false)
    }

    init(configuration: PostgresConfiguration, seed: UInt64) {
        self.configuration = configuration
        self.seed = seed
        counters = Counters()
    }

    var commits: Int { counters.commits.load(ordering: .relaxed) }
    func stop() { counters.mustStop.store(true, ordering: .relaxed) }
    private var isStopped: Bool { counters.mustStop.load(ordering: .relaxed) }

    static func prepare(_ connection: PostgresConnection) async throws {
        try await connection.execute(
            """
            INSERT INTO account SELECT g, \(opening) FROM generate_series(1, \(accountCount)) g;
            INSERT INTO child (_id, title) SELECT g, 0 FROM generate_series(1, \(childCount)) g
            """)
    }

    /// Writes until ``stop()``.
    func run() async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<6 { group.addTask { try await transfers(number) } }
            for number in 6..<8 { group.addTask { try await families(number) } }
            group.addTask { try await longTransactions(8) }
            group.addTask { try await crowds(9) }
            try await group.waitForAll()
        }
    }

    private func loop(
        _ number: Int, _ body: (PostgresConnection, inout SeededGenerator) async throws -> Void
    ) async throws {
        var random = SeededGenerator(seed: seed &* 1_000 &+ UInt64(number))
        let connection = try await PostgresConnection.connect(configuration)
        try await connection.execute("SET synchronous_commit = \(number % 2 == 0 ? "off" : "on")")
        while !isStopped {
            do {
                try await body(connection, &random)
                counters.commits.add(1, ordering: .relaxed)
            } catch let error as PostgresError where error.isRetryable {
                if connection.transactionStatus != .idle { try await connection.execute("ROLLBACK") }
            }
        }
        await connection.close()
    }

    private func pause(_ random: inout SeededGenerator, upTo milliseconds: Int) -> String {
        "SELECT pg_sleep(\(Double.random(in: 0...Double(milliseconds), using: &random) / 1_000))"
    }

    /// Sometimes assigns the transaction its ID early, as if it had done other work before.
    private func begin(_ random: inout SeededGenerator) -> String {
        Int.random(in: 0..<3, using: &random) == 0
            ? "BEGIN; SELECT pg_current_xact_id(); \(pause(&random, upTo: 20))" : "BEGIN"
    }

    private func transfers(_ number: Int) async throws {
        try await loop(number) { connection, random in
            let pair = Array(1...Self.accountCount).shuffled(using: &random).prefix(2).sorted()
            let amount = Int.random(in: 1...9, using: &random)
            try await connection.execute(
                """
                \(begin(&random)); UPDATE account SET balance = balance - \(amount) WHERE _id = \(pair[0]); \
                \(pause(&random, upTo: 4)); \
                UPDATE account SET balance = balance + \(amount) WHERE _id = \(pair[1]); \
                \(pause(&random, upTo: 4)); COMMIT
                """)
        }
    }

    private func newID() -> Int { counters.nextID.add(1, ordering: .relaxed).newValue }

    private func families(_ number: Int) async throws {
        try await loop(number) { connection, random in
            let child = Int.random(in: 1...Self.childCount, using: &random)
            if Bool.random(using: &random) {
                try await connection.execute(
                    "UPDATE child SET title = title + 1 WHERE _id = \(child); \(pause(&random, upTo: 2))")
                return
            }
            let parent = newID()
            try await connection.execute(
                """
                \(begin(&random)); INSERT INTO parent VALUES (\(parent), 'p'); \
                UPDATE child SET parent = \(parent) WHERE _id = \(child); \(pause(&random, upTo: 4)); COMMIT
                """)
        }
    }

    /// Inserts enough rows in one statement that they share rows of the changelog, and deletes others.
    private func crowds(_ number: Int) async throws {
        let size = 50
        try await loop(number) { connection, random in
            let last = counters.nextID.add(2 * size, ordering: .relaxed).newValue
            func insert(_ last: Int) -> String {
                "INSERT INTO parent SELECT n, 'many' FROM generate_series(\(last - size + 1), \(last)) n"
            }
            try await connection.execute(
                """
                \(begin(&random)); \(insert(last)); \(pause(&random, upTo: 4)); SAVEPOINT other; \(insert(last - size)); \
                \(Bool.random(using: &random) ? "ROLLBACK TO other" : "RELEASE other"); \
                UPDATE child SET parent = \(last) WHERE _id = \(Int.random(in: 1...Self.childCount, using: &random)); \
                \(pause(&random, upTo: 20)); COMMIT; \
                \(pause(&random, upTo: 300))
                """)
        }
    }

    private func longTransactions(_ number: Int) async throws {
        try await loop(number) { connection, random in
            let parent = newID()
            let pair = Array(1...Self.accountCount).shuffled(using: &random).prefix(2).sorted()
            try await connection.execute(
                """
                BEGIN; SELECT pg_current_xact_id(); \(pause(&random, upTo: 400)); \
                INSERT INTO parent VALUES (\(parent), 'long'); \
                UPDATE child SET parent = \(parent) \
                WHERE _id = \(Int.random(in: 1...Self.childCount, using: &random)); \
                UPDATE account SET balance = balance - 1 WHERE _id = \(pair[0]); \
                UPDATE account SET balance = balance + 1 WHERE _id = \(pair[1]); COMMIT; \
                \(pause(&random, upTo: 100))
                """)
        }
    }
}
