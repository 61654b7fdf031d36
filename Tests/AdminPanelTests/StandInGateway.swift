import Foundation
import PostgresClient
import TomboloHTTP
import TomboloModel

/// A gateway as the database sees it: its row, and its answers to questions.
struct StandInGateway: Sendable {
    let pool: PostgresPool
    let id = ObjectId.generate().stringValue
    let name: String

    init(_ pool: PostgresPool, name: String) {
        self.pool = pool
        self.name = name
    }

    /// - Parameter age: seconds since it was last heard of. It isn't updated afterwards, so the default makes it present for ten
    /// minutes, however slow the test is.
    func register(age: Int = -600) async throws {
        try await pool.query(
            """
            INSERT INTO tombolo.gateway (id, name, seen_at, sessions)
            VALUES ($1, $2, clock_timestamp() - make_interval(secs => $3), 1)
            """, [.text(id), .text(name), .int64(Int64(age))])
    }

    /// Answers questions until the task is cancelled.
    func answer(_ body: @escaping @Sendable (_ request: String) -> (status: Int, json: JSON)) async throws {
        while !Task.isCancelled {
            let waiting = try await pool.query(
                """
                SELECT q.id, q.request FROM tombolo.inspector_question q WHERE (q.gateway IS NULL OR q.gateway = $1)
                    AND NOT EXISTS (SELECT FROM tombolo.inspector_answer a WHERE a.question = q.id AND a.gateway = $1)
                """, [.text(id)])
            for question in waiting {
                let (status, json) = body(try question[1].string)
                let text = String(decoding: try JSONEncoder().encode(json), as: UTF8.self)
                // The asker may have stopped waiting and deleted the question.
                try await pool.query(
                    """
                    INSERT INTO tombolo.inspector_answer (question, gateway, status, body)
                    SELECT q.id, $2, $3, $4 FROM tombolo.inspector_question q WHERE q.id = $1 FOR KEY SHARE
                    """, [.int64(try question[0].int64), .text(id), .int64(Int64(status)), .text(text)])
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Runs `body` while gateways answer questions.
    static func answering(
        _ gateways: [StandInGateway],
        with answer: @escaping @Sendable (_ gateway: StandInGateway, _ request: String) -> (status: Int, json: JSON),
        _ body: @Sendable () async throws -> Void
    ) async throws {
        let tasks = gateways.map { gateway in Task { try await gateway.answer { answer(gateway, $0) } } }
        defer { for task in tasks { task.cancel() } }
        try await body()
    }
}
