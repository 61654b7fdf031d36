import Foundation
import PostgresClient

/// Plain-SQL writers that commit at a steady rate and record when each COMMIT returned.
struct PlainWriter: Sendable {
    /// The number of writers, which take turns so that one slow commit doesn't lower the rate.
    static let writerCount = 4

    struct Commit: Sendable {
        let number: Int
        let nanoseconds: Int64
    }

    let pool: PostgresPool
    let commitsPerSecond: Double
    let commitCount: Int
    /// Commits are numbered after this one.
    let firstNumber: Int
    /// The row that a commit sets, by the commit's index from 0.
    let key: @Sendable (Int) -> [UInt8]

    func run() async throws -> [Commit] {
        let start = Monotonic.nanoseconds + 50_000_000
        return try await withThrowingTaskGroup(of: [Commit].self) { group in
            for writer in 0..<Self.writerCount {
                group.addTask { try await pool.withConnection { try await write(writer, start, $0) } }
            }
            var all: [Commit] = []
            for try await commits in group { all += commits }
            return all
        }
    }

    private func write(_ writer: Int, _ start: Int64, _ connection: PostgresConnection) async throws -> [Commit] {
        var commits: [Commit] = []
        for place in stride(from: writer, to: commitCount, by: Self.writerCount) {
            let due = start + Int64(Double(place) / commitsPerSecond * 1e9)
            let wait = due - Monotonic.nanoseconds
            if wait > 0 { try await Task.sleep(for: .nanoseconds(wait), tolerance: .zero) }
            let number = firstNumber + place
            try await connection.query(
                "UPDATE listing SET price = $2 WHERE _id = $1", [.bytea(key(place)), .int64(Int64(number))])
            commits.append(Commit(number: number, nanoseconds: Monotonic.nanoseconds))
        }
        return commits
    }
}
