internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import PostgresClient
internal import TomboloAuthentication
internal import TomboloHTTP
internal import TomboloPostgresStore
internal import TomboloRules

extension InspectorDesk {
    /// Creates a desk that answers like the inspector's routes: the rights of the user who asks decide every
    /// question.
    init(inspector: Inspector, rules: LiveRules, authenticator: Authenticator, pool: PostgresPool, logger: Logger) {
        self.init(
            id: inspector.id, name: inspector.gateway, pool: pool, logger: logger,
            countSessions: { await inspector.services.clocks.summary().count.values.reduce(0, +) },
            answer: { question in
                let answer = await Self.answer(to: question, inspector, rules, authenticator, logger)
                guard answer.body.utf8.count > InspectorLimits.maximumAnswerByteCount else { return answer }
                return Self.told(
                    RequestFailure(
                        .tooLarge, "The answer is too long.", hint: "Ask about one device or fewer subscriptions.")
                )
            })
    }

    /// Returns what the inspector's route would answer. Takes no longer than anybody waits for the answer.
    private static func answer(
        to question: Question, _ inspector: Inspector, _ rules: LiveRules, _ authenticator: Authenticator,
        _ logger: Logger
    ) async -> Answer {
        do {
            return try await withTimeout(.seconds(InspectorLimits.questionSeconds)) {
                // The rights that the user has now, provided that the login session that sent the question hasn't
                // ended.
                let subject = try await authenticator.subject(of: question.userID, in: question.sessionID)
                let grant = try ClassesGrant(
                    subject, .inspect, ofAny: InspectorRoutes.what, InspectorRoutes.classNames, by: rules.current)
                let request = Request(
                    head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: question.path),
                    body: RequestBody(buffer: ByteBuffer()))
                return Answer(
                    status: 200, body: text(try await inspector.answer(request, InspectorView(grant))))
            }
        } catch {
            let failure = RequestFailure(error)
            if failure.code == .internalError {
                logger.warning("Couldn't answer a question about devices: \(failure)")
            }
            return told(failure)
        }
    }

    private static func told(_ failure: RequestFailure) -> Answer {
        let members: [String: JSON] = [
            "code": .string(failure.code.rawValue), "message": .string(failure.message),
            "hint": failure.hint.map(JSON.string) ?? .null,
        ]
        return Answer(status: failure.code.status.code, body: text(.object(members)))
    }

    private static func text(_ json: JSON) -> String {
        (try? JSONEncoder().encode(json)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}
