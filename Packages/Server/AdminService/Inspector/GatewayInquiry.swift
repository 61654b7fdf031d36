package import PostgresClient
package import TomboloHTTP
package import TomboloModel
import Foundation
import TomboloPostgresStore
import TomboloLocalization

/// Asks the gateways about their devices, through the database, so an admin server needn't know where they are. Each
/// gateway answers according to the rights of the user who asks.
package struct GatewayInquiry: Sendable {
    /// How long to wait for all answers.
    package static let patience = Duration.seconds(3)
    /// The same as ``TomboloPostgresStore/InspectorLimits/aliveSeconds``.
    package static let aliveSeconds = InspectorLimits.aliveSeconds
    /// How long to wait between checks for answers: at first, and at most.
    private static let pauses = (first: Duration.milliseconds(50), longest: Duration.milliseconds(200))

    /// The result of asking one gateway.
    package enum Outcome: Sendable {
        case answered(JSON)
        case refused(status: Int, message: String, hint: String?)
        /// No answer arrived within ``patience``.
        case silent
        /// The gateway wasn't asked, because it hasn't reported for
        /// ``TomboloPostgresStore/InspectorLimits/aliveSeconds``.
        case gone
    }

    package struct Answer: Sendable {
        package let gateway: RunningGateway
        package let outcome: Outcome

        /// The answer, if there was one.
        package var json: JSON? { if case .answered(let json) = outcome { json } else { nil } }
    }

    private let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// The gateways that are running or were running lately, by name.
    package func gateways() async throws -> [RunningGateway] {
        try await pool.query(
            """
            SELECT id, name, started_at, seen_at, sessions,
                seen_at > clock_timestamp() - make_interval(secs => \(InspectorLimits.aliveSeconds))
            FROM tombolo.gateway
            WHERE seen_at > clock_timestamp() - make_interval(secs => \(InspectorLimits.rememberedSeconds))
            ORDER BY name, id
            """
        ).map { row in
            RunningGateway(
                id: try row[0].string, name: try row[1].string, startedAt: try row[2].timestampMicroseconds,
                seenAt: try row[3].timestampMicroseconds, sessionCount: try row[4].int64, isAlive: try row[5].bool)
        }
    }

    /// Asks the running gateways, and waits for their answers for at most ``patience``.
    /// - Parameters:
    ///   - request: a path of the inspector's routes, with its query.
    ///   - user: the user who asks.
    ///   - session: the login session of the request.
    ///   - id: the only gateway to ask; nil for all.
    /// - Throws: ``RequestFailure`` with status 429 if too many questions are waiting, and 400 for one that is too
    ///   long.
    package func ask(
        _ request: String, by user: ObjectId, in session: ObjectId, of id: String? = nil
    ) async throws -> [Answer] {
        guard request.utf8.count <= InspectorLimits.maximumRequestByteCount, !request.utf8.contains(0) else {
            throw RequestFailure(
                .badRequest, localized("The request is too long."), hint: localized("Use shorter ids."))
        }
        let gateways = try await gateways().filter { id == nil || $0.id == id }
        let alive = gateways.filter(\.isAlive)
        guard !alive.isEmpty else { return gateways.map { Answer(gateway: $0, outcome: .gone) } }
        let question = try await add(request, user, session, id)
        do {
            let outcomes = try await answers(to: question, of: Set(alive.map(\.id)))
            try await remove(question)
            return gateways.map { gateway in
                Answer(gateway: gateway, outcome: outcomes[gateway.id] ?? (gateway.isAlive ? .silent : .gone))
            }
        } catch {
            try? await remove(question)
            throw error
        }
    }

    // MARK: The question

    private func add(_ request: String, _ user: ObjectId, _ session: ObjectId, _ gateway: String?) async throws -> Int64
    {
        let added = try await pool.query(
            """
            WITH waiting AS (
                SELECT user_id FROM tombolo.inspector_question
                WHERE asked_at > clock_timestamp() - make_interval(secs => \(InspectorLimits.questionSeconds))
            )
            INSERT INTO tombolo.inspector_question (user_id, session_id, gateway, request)
            SELECT $1, $2, $3, $4
            WHERE (SELECT count(*) FROM waiting) < \(InspectorLimits.maximumQuestionCount)
                AND (SELECT count(*) FROM waiting WHERE user_id = $1) < \(InspectorLimits.maximumQuestionCountOfUser)
            RETURNING id
            """, [.bytea(user.bytes), .bytea(session.bytes), .text(gateway), .text(request)])
        guard let row = added.first else {
            throw RequestFailure(
                .tooManyRequests, localized("Too many questions to the gateways are waiting for answers."),
                hint: localized("Try again in a few seconds."))
        }
        return try row[0].int64
    }

    private func remove(_ question: Int64) async throws {
        try await pool.query("DELETE FROM tombolo.inspector_question WHERE id = $1", [.int64(question)])
    }

    // MARK: The answers

    private func answers(to question: Int64, of gateways: Set<String>) async throws -> [String: Outcome] {
        let clock = ContinuousClock()
        let deadline = clock.now + Self.patience
        var outcomes: [String: Outcome] = [:]
        var pause = Self.pauses.first
        while true {
            let found = try await pool.query(
                """
                SELECT gateway, status, body FROM tombolo.inspector_answer
                WHERE question = $1 AND NOT gateway = ANY ($2::text[])
                """, [.int64(question), .textArray(Array(outcomes.keys))])
            for row in found { outcomes[try row[0].string] = try outcome(row[1].int, row[2].string) }
            guard !gateways.isSubset(of: outcomes.keys), clock.now < deadline else { return outcomes }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, Self.pauses.longest)
        }
    }

    private func outcome(_ status: Int, _ body: String) throws -> Outcome {
        let json = try JSONDecoder().decode(JSON.self, from: Data(body.utf8))
        guard status != 200 else { return .answered(json) }
        func text(_ name: String) -> String? { if case .string(let text)? = json[name] { text } else { nil } }
        return .refused(status: status, message: text("message") ?? localized("It gave no reason."), hint: text("hint"))
    }
}
