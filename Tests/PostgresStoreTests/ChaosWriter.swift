import PostgresClient
import RandomValues

/// A service that changes rows in every way plain SQL can: many kinds of values, lists, new keys, reused keys, the trash, several
/// changes of one row in one transaction, savepoints, TRUNCATE.
struct ChaosWriter: Sendable {
    let configuration: PostgresConfiguration
    let seed: UInt64

    private static let statements = [
        "INSERT INTO note (_id, slug, text) VALUES ('n' || $1, 's' || $1, 'x') ON CONFLICT DO NOTHING",
        "INSERT INTO note (_id, slug, text) SELECT 'm' || g, 'z' || g, 'y' FROM generate_series($1, $1 + 40) g "
            + "ON CONFLICT DO NOTHING",
        "UPDATE note SET text = text || $1 WHERE _id LIKE '%' || ($1 % 10) AND length(text) < 60",
        "UPDATE note SET trashed_at = now(), trashed_by = 'x' WHERE _id LIKE '%' || ($1 % 10)",
        "UPDATE note SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL WHERE _id LIKE '%' || ($1 % 7)",
        "DELETE FROM note WHERE _id LIKE '%' || ($1 % 10)",
        "UPDATE note SET _id = 'k' || $1, slug = 'k' || $1 WHERE _id = (SELECT _id FROM note ORDER BY _id LIMIT 1) "
            + "AND NOT EXISTS (SELECT FROM note WHERE _id = 'k' || $1)",
        "INSERT INTO person (_id, email, height, born, photo, badge, is_member, level, visits) VALUES "
            + "(decode(lpad(to_hex($1), 24, '0'), 'hex'), 'p' || $1, $1 / 7.0, now(), '\\x00ff', gen_random_uuid(), "
            + "true, 1, 0) ON CONFLICT DO NOTHING",
        "UPDATE person SET visits = visits + 1, height = -height, photo = NULL, born = now() WHERE visits % 3 = $1 % 3",
        "DELETE FROM person WHERE visits > 3 AND $1 % 4 = 0",
        "TRUNCATE person",
    ]

    /// - Parameter goesOn: called before each transaction; the writer stops when it returns false.
    func run(while goesOn: @escaping @Sendable () -> Bool) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask { try await write(number, while: goesOn) }
            }
            try await group.waitForAll()
        }
    }

    private func write(_ number: Int, while goesOn: @escaping @Sendable () -> Bool) async throws {
        var random = SeededGenerator(seed: seed &+ UInt64(number))
        let connection = try await PostgresConnection.connect(configuration)
        while goesOn() {
            do {
                try await connection.transaction { connection in
                    for _ in 0..<Int.random(in: 1...4, using: &random) {
                        let place = Int.random(in: 0..<Self.statements.count, using: &random)
                        // TRUNCATE is rare.
                        let statement = Self.statements[place == 10 && Bool.random(using: &random) ? 0 : place]
                        let argument = Int.random(in: 1...60, using: &random)
                        try await connection.execute(
                            statement.replacing("$1", with: String(argument)))
                        if Int.random(in: 0..<4, using: &random) == 0 {
                            try await connection.execute(
                                "SAVEPOINT s; UPDATE note SET text = 'undone'; ROLLBACK TO s; RELEASE s")
                        }
                    }
                }
            } catch let error as PostgresError
                where error.isRetryable || error.code == .uniqueViolation || error.code == .lockNotAvailable
            {}
            try await Task.sleep(for: .milliseconds(5))
        }
        await connection.close()
    }
}
