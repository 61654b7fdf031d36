import Foundation
import PostgresClient
import Synchronization
import Testing
import TomboloModel
import TomboloSyncClient

@testable import Tombolo

/// Writes that the rules refuse are undone one by one, and the app is told once.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct CompensatingWriteTests {
    /// A class whose editors may write every field except the title, which only its owner may write.
    final class CompensatedTask: Object {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var owner: String
        @Persisted var title: String
        @Persisted var isDone: Bool
        @Persisted var steps: List<CompensatedStep>
    }

    final class CompensatedStep: EmbeddedObject {
        @Persisted var text: String
    }

    private static let rules = """
        CompensatedTask:
          - {name: owner, applyWhen: {"%%user.custom_data.isOwner": true}, read: true, write: true}
          - name: editor
            applyWhen: {}
            read: true
            write: {owner: {$ne: locked}}
            fields: {title: {read: true, write: false}}
        """

    private final class Errors: Sendable {
        private let all = Mutex<[SyncError]>([])

        var writes: [CompensatingWriteInfo] { all.withLock { $0.flatMap(\.compensatingWrites) } }
        var calls: Int { all.withLock { $0.count } }
        func add(_ error: any Error) {
            guard let error = error as? SyncError, !error.isOfSlowOpening else { return }
            all.withLock { $0.append(error) }
        }
    }

    /// An app on a server with an "open" and a "locked" task.
    private struct Launch {
        let app: App
        let user: User
        let realm: Realm

        init(_ server: AnyAppServer, token: String, handler: SyncManager.ErrorReportingBlock?) async throws {
            app = App(
                id: "compensated", configuration: .init(baseURL: await server.gateway.url, rootDirectory: server.folder)
            )
            app.syncManager.errorHandler = handler
            user = try await app.login(credentials: .accessToken(token))
            var configuration = user.flexibleSyncConfiguration()
            configuration.fileURL = server.folder.appending(path: "compensated.sqlite")
            configuration.objectTypes = [CompensatedTask.self, CompensatedStep.self]
            realm = try await Realm.open(configuration: configuration)
            let subscriptions = realm.subscriptions
            try await subscriptions.update {
                guard subscriptions.first(named: "all") == nil else { return }
                subscriptions.append(QuerySubscription<CompensatedTask>(name: "all"))
            }
        }

        func task(_ key: String) throws -> CompensatedTask {
            try #require(realm.object(ofType: CompensatedTask.self, forPrimaryKey: key))
        }

        /// Releases the process's use of the file, as if the process had been killed.
        func end() { realm.syncSession?.closeFile() }
    }

    private static func with(_ body: @MainActor (AnyAppServer, _ token: String) async throws -> Void) async throws {
        let document = try ModelDocument(
            app: "compensated", objectTypes: [CompensatedTask.self])
        try await AnyAppServer.with { server in
            try await server.apply([(document, rules)])
            try await server.gateway.start()
            try await server.pool.execute(
                """
                INSERT INTO compensated_task (_id, owner, title, is_done)
                VALUES ('open', '', 'before', false), ('locked', 'locked', 'before', false)
                """)
            try await body(server, try await server.user("ann").token)
        }
    }

    @MainActor
    private static func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(600)
        while try await !condition() {
            guard ContinuousClock.now < deadline else { throw EndToEndFailure("not within ten minutes: \(what)") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test("Only a transaction's forbidden writes are undone, and each is reported with class, key, reason and role")
    @MainActor
    func oneTransaction() async throws {
        try await Self.with { server, token in
            let errors = Errors()
            let launch = try await Launch(server, token: token) { error, _ in errors.add(error) }
            try await launch.realm.syncSession?.waitForDownload()
            let (open, locked) = (try launch.task("open"), try launch.task("locked"))
            try launch.realm.write {
                open.title = "mine"
                open.isDone = true
                open.steps.append(CompensatedStep(value: ["text": "first"]))
                locked.isDone = true
                locked.steps.append(CompensatedStep(value: ["text": "never"]))
                launch.realm.create(CompensatedTask.self, value: ["_id": "new", "owner": launch.user.id])
            }
            try launch.realm.write { open.owner = "somebody" }
            try await launch.realm.syncSession?.waitForUpload()
            try await Self.eventually("the device shows the server's values") {
                launch.realm.refresh()
                return open.title == "before" && !locked.isDone && locked.steps.isEmpty
            }
            #expect(open.isDone && open.steps.map(\.text) == ["first"] && open.owner == "somebody")
            let rows = try await server.pool.query(
                "SELECT _id || ' ' || title || ' ' || is_done || ' ' || owner FROM compensated_task ORDER BY _id")
            #expect(
                try rows.map { try $0[0].string } == [
                    "locked before false locked", "new  false \(launch.user.id)", "open before true somebody",
                ])
            try await Self.eventually("the app was told") { errors.calls == 1 }
            #expect(errors.writes.allSatisfy { $0.objectType == "CompensatedTask" && $0.role == "editor" })
            #expect(errors.writes.map(\.primaryKey) == [.string("open"), .string("locked")])
            #expect(
                errors.writes.map(\.reason) == [
                    "Not permitted to change the title of this CompensatedTask: no rule of the role 'editor' allows it.",
                    "Not permitted to update this CompensatedTask: no rule of the role 'editor' allows it.",
                ])
            #expect(Set(errors.writes.map(\.number)).count == 1)
            launch.end()
        }
    }

    @Test("An app without a handler hears of a refused write at its next launch, and only once")
    @MainActor
    func nextLaunch() async throws {
        try await Self.with { server, token in
            let first = try await Launch(server, token: token, handler: nil)
            try await first.realm.syncSession?.waitForDownload()
            try first.realm.write { try first.task("open").title = "mine" }
            try await first.realm.syncSession?.waitForUpload()
            first.end()

            let errors = Errors()
            let second = try await Launch(server, token: token) { error, _ in errors.add(error) }
            try await Self.eventually("the app was told") { errors.calls == 1 }
            #expect(errors.writes.map(\.primaryKey) == [.string("open")] && errors.writes.map(\.role) == ["editor"])
            // The engine's thread forgets reported writes.
            try await Self.eventually("the refusal is forgotten") {
                try await second.realm.syncSession?.engine.untoldRefusals(after: 0).isEmpty == true
            }
            second.end()

            let third = try await Launch(server, token: token) { error, _ in errors.add(error) }
            try third.realm.write { try third.task("open").isDone = true }
            try await third.realm.syncSession?.waitForUpload()
            #expect(errors.calls == 1)
            third.end()
        }
    }

    @Test("A handler that is set late hears of earlier refused writes, and a refused transaction blocks no other")
    @MainActor
    func lateHandler() async throws {
        try await Self.with { server, token in
            let launch = try await Launch(server, token: token, handler: nil)
            try await launch.realm.syncSession?.waitForDownload()
            for number in 1...5 {
                try launch.realm.write {
                    try launch.task("locked").title = "\(number)"
                    launch.realm.create(CompensatedTask.self, value: ["_id": "new \(number)"])
                }
            }
            try await launch.realm.syncSession?.waitForUpload()
            let count = try await server.pool.query("SELECT count(*) FROM compensated_task")
            #expect(try count[0][0].int64 == 7)
            let errors = Errors()
            launch.app.syncManager.errorHandler = { error, _ in errors.add(error) }
            try await Self.eventually("the app was told") { errors.writes.count == 5 }
            #expect(Set(errors.writes.map(\.number)).count == 5)
            launch.end()
        }
    }
}
