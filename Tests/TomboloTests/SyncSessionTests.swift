import Dispatch
import Foundation
import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSQLiteStore
import TomboloSyncProtocol
import TomboloSyncSession

@testable import Tombolo

/// Sessions without a gateway: port 0 accepts no connections.
@Suite("Sync sessions", .timeLimit(.minutes(15)))
struct SyncSessionTests {
    private let folder: TemporaryFolder
    private let app: App

    init() throws {
        folder = try TemporaryFolder()
        app = App(id: "tests", configuration: .init(baseURL: "http://127.0.0.1:0", rootDirectory: folder.url))
    }

    /// Logs a user in, for the first time or again.
    private func user(_ id: String = "ada", token: String = "first") async throws -> User {
        let claims = Data(#"{"sub":"\#(id)"}"#.utf8).base64EncodedString().replacing("=", with: "")
        return try await app.login(credentials: .accessToken("\(token).\(claims).unsigned"))
    }

    private func configuration(
        _ user: User, _ types: [Object.Type] = [Session.self, Speaker.self, Room.self]
    ) -> Realm.Configuration {
        var configuration = folder.configuration(types: types)
        configuration.syncConfiguration = SyncConfiguration(user: user)
        return configuration
    }

    private func store(of realm: Realm) throws -> SQLiteDeviceStore {
        try SQLiteDeviceStore(path: realm.core.file.path, schema: realm.core.schema)
    }

    /// The session of a Realm that has been closed again.
    private func session(_ configuration: Realm.Configuration) throws -> SyncSession {
        try #require(try Realm.fresh(configuration).syncSession)
    }

    // MARK: Progress

    @Test("Progress of outstanding changes completes even after a client reset renumbers them")
    func progressAfterReset() {
        var observers = ProgressObservers()
        observers.add(1, .upload, isOneShot: true) { _ in }
        _ = observers.uploading(acknowledged: 90, last: 100)
        observers.startOver()
        let begun = observers.uploading(acknowledged: 0, last: 20)
        #expect(begun.map { $0.1 } == [SyncSession.Progress(transferred: 0, transferrable: 20)])
        let end = observers.uploading(acknowledged: 20, last: 20)
        #expect(end.map { $0.1 } == [SyncSession.Progress(transferred: 20, transferrable: 20)])
        #expect(!observers.wantsUploads)
    }

    // MARK: Files

    @Test("Deleting the files ends their session, and the next Realm gets a session on the new file")
    func deleteFiles() async throws {
        let user = try await self.user()
        let configuration = configuration(user)
        let old = try session(configuration)
        try await user.logOut()
        #expect(try Realm.deleteFiles(for: configuration))
        await #expect(throws: (any Error).self) { try await old.waitForUpload() }

        let realm = try Realm.fresh(configuration)
        #expect(realm.syncSession !== old)
        let subscriptions = realm.subscriptions
        try subscriptions.commit { subscriptions.append(QuerySubscription<Room>(name: "rooms")) }
        #expect(try store(of: realm).state().wanted.subscriptions.map(\.name) == ["rooms"])
    }

    @Test("A file deleted because its classes changed gets a new session too")
    func deletedForMigration() async throws {
        let user = try await self.user()
        let old = try session(configuration(user, [Before.Guest.self]))
        var configuration = configuration(user, [After.Guest.self])
        configuration.deleteRealmIfMigrationNeeded = true
        let realm = try Realm.fresh(configuration)
        #expect(throws: (any Error).self) { try old.newestSubscriptions() }
        let session = try #require(realm.syncSession)
        #expect(try session.newestSubscriptions().set == .empty)
    }

    @Test("An open file is recognised by any of its paths")
    func links() throws {
        let link = folder.url.appending(path: "link")
        let real = folder.url.appending(path: "real")
        try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
        var (one, other) = (folder.configuration(), folder.configuration())
        one.fileURL = link.appending(path: "test.sqlite")
        other.fileURL = real.appending(path: "test.sqlite")
        var realm: Realm? = try Realm.fresh(one)
        for configuration in [one, other] {
            let error = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: configuration) }
            #expect(error?.code == .alreadyOpen)
        }
        #expect(realm != nil)
        realm = nil
        #expect(try Realm.deleteFiles(for: one))
        #expect(!Realm.fileExists(for: other))
    }

    // MARK: Users

    @Test("A new login of the same user continues with the new token", arguments: [false, true])
    func newLogin(afterLogOut: Bool) async throws {
        let first = try await user()
        let session = try session(configuration(first))
        session.receive(.failure(SessionFailure(.notAuthenticated, "The token has expired.")))
        #expect(session.error?.code == .clientUserError)
        if afterLogOut { try await first.logOut() }
        let second = try await user(token: "second")
        #expect(try self.session(configuration(second)) === session)
        #expect(session.parentUser()?.accessToken?.hasPrefix("second.") == true)
        #expect(session.error == nil)
        #expect(second === first)
    }

    @Test("A login resumes all sessions, even while the preceding logout still waits for busy ones")
    func logInDuringLogOut() async throws {
        let user = try await self.user()
        var other = configuration(user)
        other.fileURL = folder.url.appending(path: "other.sqlite")
        let sessions = [try session(configuration(user)), try session(other)]
        let (held, noteHeld) = AsyncStream.makeStream(of: Void.self)
        let end = DispatchSemaphore(value: 0)
        for session in sessions {
            Task { await hold(session.engine, until: end) { noteHeld.yield() } }
        }
        var iterator = held.makeAsyncIterator()
        for _ in sessions { await iterator.next() }

        async let logOut: Void = user.logOut()
        while sessions.contains(where: { $0.state == .active }) { await Task.yield() }
        _ = try await self.user(token: "second")
        for _ in sessions { end.signal() }
        try await logOut
        #expect(user.isLoggedIn)
        #expect(sessions.allSatisfy { $0.state == .active })
    }

    @Test("A session that fails while being resumed stays offline, and says so, until it's resumed again")
    func failureWhileResuming() async throws {
        var configuration = configuration(try await user())
        // Makes a waiting download fail when connecting fails.
        configuration.syncConfiguration?.cancelAsyncOpenOnNonFatalErrors = true
        let session = try session(configuration)
        await session.suspendAndWait()
        let (held, noteHeld) = AsyncStream.makeStream(of: Void.self)
        let end = DispatchSemaphore(value: 0)
        Task { await hold(session.engine, until: end) { noteHeld.yield() } }
        var iterator = held.makeAsyncIterator()
        await iterator.next()
        session.resume()
        session.fail(SessionFailure(.unavailable, "a test"))
        end.signal()
        await session.sendSubscriptions()
        #expect(session.state == .inactive && session.connectionState == .disconnected)
        session.resume()
        let error = await #expect(throws: SyncError.self) { try await session.waitForDownload() }
        #expect(error?.code == .connectionFailed && session.state == .active)
    }

    @Test("A session resumed after several refused tokens asks for new ones again")
    func refusedTokens() async throws {
        let login = GatewayClient.Login(
            accessToken: "access", expiresAt: .distantFuture, refreshToken: "refresh", userID: "ada")
        let session = try session(configuration(try app.users.add(login, "local-userpass", account: nil, app: app)))
        func refuse() { session.receive(.failure(SessionFailure(.notAuthenticated, "The token was revoked."))) }
        for _ in 0..<SyncSession.maximumRefusedTokens { refuse() }
        #expect(session.state == .active)
        refuse()
        #expect(session.state == .inactive)
        session.resume()
        refuse()
        #expect(session.state == .active)
        session.closeFile()
    }

    /// Keeps an engine's thread busy.
    private func hold<Engine: Actor>(_ engine: isolated Engine, until end: DispatchSemaphore, _ begun: () -> Void) {
        begun()
        end.wait()
    }

    @Test("Another user is refused until the files are deleted")
    func otherUser() async throws {
        let configuration = configuration(try await user())
        let old = try session(configuration)
        let others = self.configuration(try await user("grace"))
        let error = #expect(throws: Realm.Error.self) { try Realm.fresh(others) }
        #expect(error?.code == .incompatibleSession)
        #expect(old.parentUser()?.id == "ada")
        #expect(try Realm.deleteFiles(for: configuration))
        #expect(try session(others).parentUser()?.id == "grace")
    }

    // MARK: Classes

    @Test("Other classes are refused while a Realm is open, and get their own session later")
    func otherClasses() async throws {
        let user = try await self.user()
        var realm: Realm? = try Realm.fresh(configuration(user, [Room.self]))
        let error = #expect(throws: Realm.Error.self) { try Realm.fresh(configuration(user)) }
        #expect(error?.code == .alreadyOpen)
        let old = try #require(realm?.syncSession)
        realm = nil
        let wider = try Realm.fresh(configuration(user))
        #expect(wider.syncSession !== old)
        #expect(throws: (any Error).self) { try old.newestSubscriptions() }
        try wider.write { wider.add(Session(1, "One")) }
        #expect(try store(of: wider).pendingChangesets(after: 0, maximumCount: 9, maximumByteCount: 9).count == 1)
    }

    // MARK: Subscriptions

    @Test("Concurrent changes of subscriptions are all kept")
    func concurrentChanges() async throws {
        let configuration = configuration(try await user())
        let realm = try Realm.fresh(configuration)
        let names = (0..<12).map { "query \($0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names {
                group.addTask {
                    let realm = try await Realm.open(configuration: configuration)
                    let subscriptions = realm.subscriptions
                    try subscriptions.commit { subscriptions.append(QuerySubscription<Room>(name: name)) }
                }
            }
            try await group.waitForAll()
        }
        let wanted = try store(of: realm).state().wanted
        #expect(Set(wanted.subscriptions.map(\.name)) == Set(names))
        #expect(wanted.version == Int64(names.count))
    }

    @Test("A subscription set too large to send is refused, and the previous one stays")
    func tooLargeSet() async throws {
        let realm = try Realm.fresh(configuration(try await user()))
        let subscriptions = realm.subscriptions
        try subscriptions.commit { subscriptions.append(QuerySubscription<Room>(name: "rooms")) }
        let keys = (0..<Predicate.maximumPartCount).map { $0 }
        let text = String(repeating: "x", count: SQLiteDeviceStore.maximumSubscriptionSetByteCount)
        #expect(throws: Realm.Error.self) {
            try subscriptions.commit {
                subscriptions.append(QuerySubscription<Session>(name: "many") { $0._id.in(keys) })
            }
        }
        #expect(throws: Realm.Error.self) {
            try subscriptions.commit {
                subscriptions.append(QuerySubscription<Session>(name: "long") { $0.title == text })
            }
        }
        #expect(subscriptions.count == 1)
        #expect(try store(of: realm).state().wanted.version == 1)
    }

    // MARK: Client resets

    @Test("waitForUpload follows the queue's new numbering after a client reset")
    func resetWhileWaiting() async throws {
        let realm = try Realm.fresh(configuration(try await user()))
        let session = try #require(realm.syncSession)
        let store = try store(of: realm)
        for number in 1...3 { try realm.write { realm.add(Session(number, "x")) } }
        try acknowledge(2, in: store)
        async let upload: Void = session.waitForUpload()
        while session.waiterCount == 0 { await Task.yield() }
        // The third changeset becomes the first.
        try store.reset(client: ClientID(rawValue: 5), discardsPending: false)
        session.receive(.reset(reason: "a test"))
        while session.waiterCount == 0 { await Task.yield() }
        session.receive(.acknowledged(1))
        try await upload
    }

    @Test("New subscriptions wait while the session is suspended")
    func suspendedSubscriptions() async throws {
        var configuration = configuration(try await user())
        // Makes a waiting download fail when connecting fails.
        configuration.syncConfiguration?.cancelAsyncOpenOnNonFatalErrors = true
        let realm = try Realm.fresh(configuration)
        let session = try #require(realm.syncSession)
        await session.suspendAndWait()
        let subscriptions = realm.subscriptions
        try subscriptions.commit { subscriptions.append(QuerySubscription<Room>(name: "rooms")) }
        await session.sendSubscriptions()
        #expect(session.connectionState == .disconnected)
        session.resume()
        let error = await #expect(throws: SyncError.self) { try await session.waitForDownload() }
        #expect(error?.code == .connectionFailed)
    }

    @Test("Upload progress never goes backwards")
    func uploadProgress() async throws {
        let realm = try Realm.fresh(configuration(try await user()))
        let session = try #require(realm.syncSession)
        let store = try store(of: realm)
        for number in 1...100 { try realm.write { realm.add(Session(number, "x")) } }
        let told = Mutex<[Int]>([])
        let token = session.addProgressNotification(for: .upload, mode: .reportIndefinitely) { progress in
            told.withLock { $0.append(progress.transferrable - progress.transferred) }
        }
        for number in 1...99 {
            try acknowledge(Int64(number), in: store)
            session.receive(.acknowledged(Int64(number)))
        }
        await session.reportUpload()
        let left = told.withLock { $0 }
        #expect(left == left.sorted(by: >))
        #expect(left.last == 1)
        token?.invalidate()
    }

    @Test("asyncOpen of a synced Realm reports progress and finishes when the download is complete")
    func asyncOpen() async throws {
        let configuration = configuration(try await user())
        let session = try session(configuration)
        await session.suspendAndWait()
        let queue = DispatchQueue(label: "open")
        let texts = Texts()
        let isSame: Bool = try await withCheckedThrowingContinuation { continuation in
            let task = Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
                texts.append("open")
                continuation.resume(with: result.map { $0.syncSession === session })
            }
            task.addProgressNotification(queue: queue) {
                texts.append("\($0.transferred) of \($0.transferrable)")
            }
            Task {
                while session.waiterCount == 0 { await Task.yield() }
                let reports: [ClientSession.Report] = [
                    .download(received: 1, total: 2), .connection(.connected), .subscriptionsComplete(version: 0),
                    .download(received: 2, total: 2),
                ]
                await receive(reports, session, onThreadOf: session.engine)
            }
        }
        #expect(isSame && texts.all.starts(with: ["1 of 2"]) && texts.all.contains("open"))
    }

    /// Reports, in place of the engine (which stays silent meanwhile), that it can't connect.
    private func receive<Engine: Actor>(
        _ reports: [ClientSession.Report], _ session: SyncSession, onThreadOf engine: isolated Engine
    ) {
        for report in reports { session.receive(report) }
    }

    @Test("Cancelling asyncOpen ends its download")
    func cancelledAsyncOpen() async throws {
        let configuration = configuration(try await user())
        let session = try session(configuration)
        await session.suspendAndWait()
        let queue = DispatchQueue(label: "open")
        let task = Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { _ in
            Issue.record("A cancelled opening called back.")
        }
        while session.waiterCount == 0 { await Task.yield() }
        task.cancel()
        while session.waiterCount > 0 { await Task.yield() }
        task.cancel()
    }

    @Test("Cancelling an opening while its download begins ends the download")
    func cancelledAtBeginning() {
        for _ in 0..<20_000 {
            let task = Realm.AsyncOpenTask()
            let ends = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                if index == 0 { task.cancel() } else { task.onCancel { ends.withLock { $0 += 1 } } }
            }
            #expect(ends.withLock { $0 } == 1)
        }
    }

    private func acknowledge(_ number: Int64, in store: SQLiteDeviceStore) throws {
        _ = try store.apply(
            BatchEnd(
                position: Position(
                    tick: 1, token: 1, subscriptionVersion: 0, rulesFingerprint: 0, schemaFingerprint: 0),
                serverTime: Stamp(microseconds: 1), acknowledged: number, frameCount: 0), frames: [],
            wallMicroseconds: 0)
    }
}

private enum Before {
    class Guest: Object {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var name: String
    }
}

private enum After {
    class Guest: Object {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var name: Int
    }
}
