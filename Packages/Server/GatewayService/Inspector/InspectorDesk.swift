internal import Logging
internal import PostgresClient
internal import ServiceLifecycle
internal import Synchronization
internal import TomboloHTTP
internal import TomboloModel
internal import TomboloPostgresStore

/// Records in the database that this gateway is running, and answers questions that users of the admin panel ask
/// there. So the admin server doesn't need to reach gateways over the network.
///
/// Questions are answered concurrently, so that a slow one doesn't hold up others.
struct InspectorDesk: Service {
    /// The most questions answered at once, of several users (``InspectorLimits/maximumQuestionCountOfUser``).
    static let maximumConcurrency = 16
    /// The time limit for signing off in the database at shutdown.
    static let lastTimeout = Duration.seconds(5)

    struct Question: Sendable {
        let id: Int64
        let userID: ObjectId
        let sessionID: ObjectId
        /// The path of one of the inspector's routes, with its query.
        let path: String
    }

    struct Answer: Sendable {
        /// An HTTP status.
        let status: Int
        /// JSON.
        let body: String
    }

    /// Identifies the process among all that run or ran.
    let id: String
    /// A name for people.
    let name: String
    let pool: PostgresPool
    let logger: Logger
    let countSessions: @Sendable () async -> Int
    let answer: @Sendable (Question) async -> Answer

    func run() async throws {
        await cancelWhenGracefulShutdown {
            async let noting: Void = repeatedly(every: InspectorLimits.heartbeatInterval, "record that it's running") {
                try await note()
            }
            let underWay = QuestionsUnderWay()
            await withDiscardingTaskGroup { group in
                await repeatedly(every: InspectorLimits.lookInterval, "look for questions about its devices") {
                    for question in try await waiting(besides: underWay.ids) {
                        underWay.begin(question.id)
                        group.addTask {
                            await give(question)
                            underWay.end(question.id)
                        }
                    }
                }
            }
            await noting
        }
        // Waiting longer would help nobody. If the database is gone, the gateway doesn't wait until it is back.
        _ = try? await withTimeout(Self.lastTimeout.patient) {
            try await pool.query("DELETE FROM tombolo.gateway WHERE id = $1", [.text(id)])
        }
    }

    private final class QuestionsUnderWay: Sendable {
        private let state = Mutex<Set<Int64>>([])

        var ids: Set<Int64> { state.withLock { $0 } }

        func begin(_ id: Int64) { state.withLock { _ = $0.insert(id) } }
        func end(_ id: Int64) { state.withLock { _ = $0.remove(id) } }
    }

    private func repeatedly(
        every interval: Duration, _ what: String, _ body: () async throws -> Void
    ) async {
        var isFailing = false
        while !Task.isCancelled {
            do {
                try await body()
                isFailing = false
            } catch is CancellationError {
                return
            } catch {
                if !isFailing { logger.warning("The gateway couldn't \(what); retrying: \(error)") }
                isFailing = true
            }
            try? await Task.sleep(for: interval)
        }
    }

    // MARK: Presence

    /// Records that the gateway is running, and removes the rows that others left behind.
    private func note() async throws {
        let count = await countSessions()
        try await pool.query(
            """
            WITH gone AS (
                DELETE FROM tombolo.gateway
                WHERE seen_at < clock_timestamp() - make_interval(secs => \(InspectorLimits.rememberedSeconds))
            ), old AS (
                DELETE FROM tombolo.inspector_question
                WHERE asked_at < clock_timestamp() - make_interval(secs => \(2 * InspectorLimits.questionSeconds))
            )
            INSERT INTO tombolo.gateway (id, name, sessions) VALUES ($1, $2, $3)
            ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp(), sessions = EXCLUDED.sessions
            """, [.text(id), .text(name), .int64(Int64(count))])
    }

    // MARK: Questions

    private func waiting(besides others: Set<Int64>) async throws -> [Question] {
        let found = try await pool.query(
            """
            SELECT q.id, q.user_id, q.session_id, q.request FROM tombolo.inspector_question q
            WHERE (q.gateway IS NULL OR q.gateway = $1)
                AND q.asked_at > clock_timestamp() - make_interval(secs => \(InspectorLimits.questionSeconds))
                AND NOT EXISTS (SELECT FROM tombolo.inspector_answer a WHERE a.question = q.id AND a.gateway = $1)
                AND q.id <> ALL ($2)
            ORDER BY q.id LIMIT $3
            """,
            [
                .text(id), .int64Array(others.map(Optional.some)),
                .int64(Int64(Self.maximumConcurrency - others.count)),
            ])
        return try found.compactMap { row -> Question? in
            guard let userID = ObjectId(bytes: try row[1].bytes), let sessionID = ObjectId(bytes: try row[2].bytes)
            else { return nil }
            return Question(id: try row[0].int64, userID: userID, sessionID: sessionID, path: try row[3].string)
        }
    }

    private func give(_ question: Question) async {
        let answer = await self.answer(question)
        do {
            try await pool.query(
                """
                INSERT INTO tombolo.inspector_answer (question, gateway, status, body)
                SELECT id, $2, $3, $4 FROM tombolo.inspector_question WHERE id = $1 ON CONFLICT DO NOTHING
                """, [.int64(question.id), .text(id), .int64(Int64(answer.status)), .text(answer.body)])
        } catch let error as PostgresError where error.code == .foreignKeyViolation {
            // Nobody waits for the answer any more.
        } catch {
            if !Task.isCancelled { logger.warning("The gateway couldn't store an answer about devices: \(error)") }
        }
    }
}
