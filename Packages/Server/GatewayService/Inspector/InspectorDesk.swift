internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import PostgresClient
internal import ServiceLifecycle
internal import TomboloAuthentication
internal import TomboloHTTP
internal import TomboloModel
internal import TomboloPostgresStore
internal import TomboloRules

/// Notes in the database that this gateway is there, and answers what users of the admin panel ask it there: the admin
/// server needn't reach gateways over the network. Every question is decided by the rights of the user who asks, as the
/// inspector's routes decide about theirs.
struct InspectorDesk: Service {
    /// Questions that are answered at once.
    static let maximumConcurrency = 4

    let inspector: Inspector
    let rules: LiveRules
    let authenticator: Authenticator
    let pool: PostgresPool
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            async let noting: Void = repeatedly(every: InspectorLimits.heartbeatInterval, "note that it is there") {
                try await note()
            }
            await repeatedly(every: InspectorLimits.lookInterval, "look for questions about its devices") {
                try await answerWaiting()
            }
            await noting
        }
        // Of no use to anybody who waits for it.
        _ = try? await pool.query("DELETE FROM tombolo.gateway WHERE id = $1", [.text(inspector.id)])
    }

    private func repeatedly(
        every interval: Duration, _ what: String, _ body: @Sendable () async throws -> Void
    ) async {
        var isFailing = false
        while !Task.isCancelled {
            do {
                try await body()
                isFailing = false
            } catch is CancellationError {
                return
            } catch {
                if !isFailing { logger.warning("The gateway couldn't \(what), and tries again: \(error)") }
                isFailing = true
            }
            try? await Task.sleep(for: interval)
        }
    }

    // MARK: Being there

    /// Notes that the gateway is there, and removes what others have left behind.
    private func note() async throws {
        let count = await inspector.services.clocks.summary().count.values.reduce(0, +)
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
            """, [.text(inspector.id), .text(inspector.gateway), .int64(Int64(count))])
    }

    // MARK: Questions

    private struct Question: Sendable {
        let id: Int64
        let userID: ObjectId
        let sessionID: ObjectId
        /// A path of the inspector's routes, with its query.
        let path: String
    }

    private func answerWaiting() async throws {
        let found = try await pool.query(
            """
            SELECT q.id, q.user_id, q.session_id, q.request FROM tombolo.inspector_question q
            WHERE (q.gateway IS NULL OR q.gateway = $1)
                AND q.asked_at > clock_timestamp() - make_interval(secs => \(InspectorLimits.questionSeconds))
                AND NOT EXISTS (SELECT FROM tombolo.inspector_answer a WHERE a.question = q.id AND a.gateway = $1)
            ORDER BY q.id LIMIT \(Self.maximumConcurrency)
            """, [.text(inspector.id)])
        let questions = try found.compactMap { row -> Question? in
            guard let userID = ObjectId(bytes: try row[1].bytes), let sessionID = ObjectId(bytes: try row[2].bytes)
            else { return nil }
            return Question(id: try row[0].int64, userID: userID, sessionID: sessionID, path: try row[3].string)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for question in questions { group.addTask { try await answer(question) } }
            try await group.waitForAll()
        }
    }

    private func answer(_ question: Question) async throws {
        var (status, body) = await outcome(question)
        if body.utf8.count > InspectorLimits.maximumAnswerByteCount {
            let failure = RequestFailure(
                .tooLarge, "The answer is too long.", hint: "Ask about one device, or for fewer subscriptions.")
            (status, body) = Self.told(failure)
        }
        do {
            try await pool.query(
                """
                INSERT INTO tombolo.inspector_answer (question, gateway, status, body)
                SELECT id, $2, $3, $4 FROM tombolo.inspector_question WHERE id = $1 ON CONFLICT DO NOTHING
                """, [.int64(question.id), .text(inspector.id), .int64(Int64(status)), .text(body)])
        } catch let error as PostgresError where error.code == .foreignKeyViolation {
            // Nobody waits for it any more.
        }
    }

    /// What the inspector's route would have answered. It takes no longer than anybody waits for it.
    private func outcome(_ question: Question) async -> (status: Int, body: String) {
        do {
            return try await withTimeout(.seconds(InspectorLimits.questionSeconds)) {
                // The rights that the user has now, as long as the login goes on that the question came by.
                let subject = try await authenticator.subject(of: question.userID, in: question.sessionID)
                let grant = try ClassesGrant(
                    subject, .inspect, ofAny: InspectorRoutes.what, InspectorRoutes.classNames, by: rules.current)
                let request = Request(
                    head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: question.path),
                    body: RequestBody(buffer: ByteBuffer()))
                return (200, Self.text(try await inspector.answer(request, InspectorView(grant))))
            }
        } catch {
            let failure = RequestFailure(error)
            if failure.code == .internalError {
                logger.warning("A question about devices wasn't answered: \(failure)")
            }
            return Self.told(failure)
        }
    }

    private static func told(_ failure: RequestFailure) -> (status: Int, body: String) {
        let members: [String: JSON] = [
            "code": .string(failure.code.rawValue), "message": .string(failure.message),
            "hint": failure.hint.map(JSON.string) ?? .null,
        ]
        return (failure.code.status.code, text(.object(members)))
    }

    private static func text(_ json: JSON) -> String {
        (try? JSONEncoder().encode(json)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}
