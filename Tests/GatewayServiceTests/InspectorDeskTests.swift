import Logging
import PostgresClient
import ServiceLifecycle
import TestSupport
import Testing
import TomboloModel
import TomboloPostgresStore

@testable import GatewayService

@Suite(.timeLimit(.minutes(15))) struct InspectorDeskTests {
    @Test("slow questions don't keep others waiting")
    func slowQuestions() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let pool = PostgresPool(configuration: configuration, options: .patient(4))
        let schema = try Schema.of([Note.self])
        try await pool.withConnection { try await PostgresSchema.install(schema, on: $0) }
        let (slow, other) = (ObjectId.generate(), ObjectId.generate())
        func ask(_ path: String, by user: ObjectId) async throws {
            // As new as if it had just been asked, however long the test takes.
            try await pool.query(
                """
                INSERT INTO tombolo.inspector_question (user_id, session_id, request, asked_at)
                VALUES ($1, $1, $2, clock_timestamp() + interval '1 hour')
                """, [.bytea(user.bytes), .text(path)])
        }
        for _ in 0..<InspectorLimits.maximumQuestionCountOfUser { try await ask("slow", by: slow) }
        try await ask("quick", by: other)

        let desk = InspectorDesk(
            id: "one", name: "one:1", pool: pool, logger: Logger(label: "tests"), countSessions: { 0 },
            answer: { question in
                while question.path == "slow", !Task.isCancelled { try? await Task.sleep(for: .seconds(600)) }
                return InspectorDesk.Answer(status: 200, body: "null")
            })
        let services = ServiceGroup(services: [desk], logger: Logger(label: "tests"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            let answered = """
                SELECT q.request FROM tombolo.inspector_answer a JOIN tombolo.inspector_question q ON q.id = a.question
                """
            var paths: [String] = []
            while paths.isEmpty {
                try await Task.sleep(for: .milliseconds(10))
                paths = try await pool.query(answered).map { try $0[0].string }
            }
            #expect(paths == ["quick"])
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
        await pool.shutdown()
    }

    @Test("a database that grants no connection doesn't hold up the gateway's shutdown")
    func unreachableDatabase() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        // A wait for the only connection may last longer than the test.
        let pool = PostgresPool(
            configuration: configuration, options: .init(maximumConnections: 1, acquireTimeout: .seconds(86_400)))
        let desk = InspectorDesk(
            id: "one", name: "one:1", pool: pool, logger: Logger(label: "tests"), countSessions: { 0 },
            answer: { _ in InspectorDesk.Answer(status: 200, body: "null") })
        let services = ServiceGroup(services: [desk], logger: Logger(label: "tests"))
        try await pool.withConnection { _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await services.run() }
                while pool.statistics.waiting == 0 { try await Task.sleep(for: .milliseconds(10)) }
                await services.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        #expect(pool.statistics.waiting == 0)
        await pool.shutdown()
    }
}
