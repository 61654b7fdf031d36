import Foundation
import Synchronization
import Testing
import TomboloModel

@testable import Tombolo

/// The RealmSwift app calls that no other test makes against a gateway process: individual subscriptions, and the
/// variants with completion handlers.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct AppCallTests {
    private static let credentials = Credentials.emailPassword(
        email: "ada@example.org", password: "correct horse battery")

    private func login(_ phone: Phone) async throws -> User {
        let app = phone.launch()
        try await app.emailPasswordAuth.registerUser(email: "ada@example.org", password: "correct horse battery")
        return try await app.login(credentials: Self.credentials)
    }

    /// Waits until the device has exactly the memos with these texts.
    private func has(_ texts: Set<String>, _ realm: Realm) async throws {
        let deadline = ContinuousClock.now + .seconds(600)
        while Set(realm.objects(Memo.self).map(\.text)) != texts {
            guard ContinuousClock.now < deadline else {
                throw EndToEndFailure("\(realm.objects(Memo.self).map(\.text)) instead of \(texts)")
            }
            try await Task.sleep(for: .milliseconds(20))
            realm.refresh()
        }
    }

    @Test("Every call on the subscription set changes what the device has")
    func subscriptions() async throws {
        try await Phone.withServer { _, phone in
            let user = try await login(phone)
            var configuration = user.flexibleSyncConfiguration(
                initialSubscriptions: { set in
                    if set.first(named: "first") == nil {
                        set.append(QuerySubscription<Memo>(name: "first") { $0.text == "a" })
                    }
                }, rerunOnOpen: true)
            configuration.objectTypes = [Memo.self]
            let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
            #expect(realm.subscriptions.count == 1 && realm.subscriptions.state == .complete)
            let session = try #require(realm.syncSession)
            #expect(user.allSessions.contains { $0 === session })

            try realm.write { for text in ["a", "b", "c", "d"] { realm.add(Memo(value: ["text": text])) } }
            try await session.wait(for: .upload)
            // Objects that no subscription covers leave the device.
            try await has(["a"], realm)

            let subscriptions = realm.subscriptions
            let told: (any Error)? = await withCheckedContinuation { continuation in
                subscriptions.update(
                    {
                        subscriptions.append(
                            QuerySubscription<Memo> { $0.text == "b" }, QuerySubscription<Memo> { $0.text == "c" })
                    }, onComplete: { continuation.resume(returning: $0) })
            }
            #expect(told == nil)
            try await has(["a", "b", "c"], realm)
            #expect(subscriptions.first(ofType: Memo.self) { $0.text == "b" }?.name == nil)
            #expect(subscriptions.first(ofType: Memo.self, where: "text == %@", "c") != nil)

            try await subscriptions.update {
                subscriptions.first(named: "first")?.updateQuery(toType: Memo.self) { $0.text == "d" }
            }
            try await has(["b", "c", "d"], realm)
            try await subscriptions.update { subscriptions.remove(ofType: Memo.self) { $0.text == "b" } }
            try await has(["c", "d"], realm)
            try await subscriptions.update { subscriptions.removeAll(unnamedOnly: true) }
            try await has(["d"], realm)

            let states = Mutex<[SyncSubscriptionState]>([])
            try await subscriptions.update { subscriptions.append(QuerySubscription<Memo>(name: "all")) }
            let token = realm.subscriptions.observe { state in states.withLock { $0.append(state) } }
            try await has(["a", "b", "c", "d"], realm)
            try await subscriptions.update { subscriptions.remove(named: "all") }
            try await has(["d"], realm)
            // State changes are delivered on the main queue, a moment later.
            while states.withLock({ !$0.contains(.complete) }) { try await Task.sleep(for: .milliseconds(20)) }
            token.invalidate()
            try await subscriptions.update { subscriptions.removeAll(ofType: Memo.self) }
            try await has([], realm)
            let results = try await realm.objects(Memo.self).where { $0.text == "a" }.subscribe()
            try await has(["a"], realm)
            results.unsubscribe()
            try await has([], realm)
            try await subscriptions.update {
                subscriptions.append(QuerySubscription<Memo>(where: "text == %@", "b"))
            }
            try await has(["b"], realm)
            try await subscriptions.update { subscriptions.removeAll() }
            try await has([], realm)
        }
    }

    @Test(
        "Progress is reported both ways, waits call back, and openings that must not wait for connections fail without a gateway"
    )
    func session() async throws {
        try await Phone.withServer { server, phone in
            let user = try await login(phone)
            let realm = try await phone.open(user)
            try await realm.objects(Memo.self).subscribe()
            let session = try #require(realm.syncSession)
            let done = Mutex<Set<String>>([])
            let tokens = [
                session.addProgressNotification(for: .upload, mode: .reportIndefinitely) { progress in
                    if progress.isTransferComplete { _ = done.withLock { $0.insert("upload") } }
                },
                session.addProgressNotification(for: .download, mode: .forCurrentlyOutstandingWork) { progress in
                    if progress.isTransferComplete { _ = done.withLock { $0.insert("download") } }
                },
            ]
            try realm.write { for _ in 0..<50 { realm.add(Memo(value: ["text": "x"])) } }
            for direction in [SyncSession.ProgressDirection.upload, .download] {
                let error: (any Error)? = await withCheckedContinuation { continuation in
                    session.wait(for: direction) { continuation.resume(returning: $0) }
                }
                #expect(error == nil)
            }
            while done.withLock({ $0.count < 2 }) { try await Task.sleep(for: .milliseconds(20)) }
            for token in tokens { token?.invalidate() }

            let other = phone.launch()
            try await server.gateway.kill9()
            var configuration = try #require(other.currentUser).flexibleSyncConfiguration(
                cancelAsyncOpenOnNonFatalErrors: true)
            configuration.fileURL = phone.folder.appending(path: "other.sqlite")
            configuration.objectTypes = [Memo.self]
            let cancelled: (any Error)? = await withCheckedContinuation { continuation in
                Realm.asyncOpen(configuration: configuration) { result in
                    if case .failure(let error) = result {
                        continuation.resume(returning: error)
                    } else {
                        continuation.resume(returning: nil)
                    }
                }
            }
            #expect((cancelled as? SyncError)?.code == .connectionFailed, "\(String(describing: cancelled))")
        }
    }

    @Test("The variants with completion handlers do what the others do")
    func completions() async throws {
        func failure(_ body: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async -> AppError? {
            await withCheckedContinuation { continuation in body { continuation.resume(returning: $0) } } as? AppError
        }
        func value<T: Sendable>(_ body: (@escaping @Sendable (Result<T, any Error>) -> Void) -> Void) async throws -> T
        {
            try await withCheckedThrowingContinuation { continuation in body { continuation.resume(with: $0) } }
        }
        let settings = #"{"registration": true, "confirmation": "none", "resetURL": "https://example.org/reset"}"#
        try await Phone.withServer(
            prepare: { try await $0.migrate(["providers", "set", "local-userpass", settings]) }
        ) { _, phone in
            let app = phone.launch()
            let auth = app.emailPasswordAuth
            let password = "correct horse battery"
            let stranger: User = try await value { app.login(credentials: .anonymous, $0) }
            #expect(stranger.identities.map(\.providerType) == ["anon-user"])
            let linked: User = try await value { stranger.linkUser(credentials: Self.credentials, $0) }
            #expect(linked.id == stranger.id && linked.identities.count == 2)
            #expect(
                await failure { auth.registerUser(email: "ada@example.org", password: password, completion: $0) } != nil
            )
            #expect(
                await failure { auth.registerUser(email: "bob@example.org", password: password, completion: $0) } == nil
            )
            #expect(await failure { auth.confirmUser("x", tokenId: "y", completion: $0) }?.code == .badRequest)
            _ = await failure { auth.resendConfirmationEmail("ada@example.org", completion: $0) }
            #expect(await failure { auth.sendResetPasswordEmail("ada@example.org", completion: $0) } == nil)
            let mail = try await phone.mail()
            let new = "another horse battery"
            #expect(
                await failure { auth.resetPassword(to: new, token: mail.token, tokenId: mail.tokenID, completion: $0) }
                    == nil)
            let user: User = try await value {
                app.login(credentials: .emailPassword(email: "ada@example.org", password: new), $0)
            }
            #expect(user.id == stranger.id)
            let document: Document = try await value { user.refreshCustomData($0) }
            #expect(document.isEmpty)

            let made: UserAPIKey = try await value { user.apiKeysAuth.createAPIKey(named: "script", completion: $0) }
            let one: UserAPIKey = try await value { user.apiKeysAuth.fetchAPIKey(made.objectId, $0) }
            #expect(one.name == "script" && one.key == nil)
            #expect(await failure { user.apiKeysAuth.disableAPIKey(made.objectId, completion: $0) } == nil)
            let all: [UserAPIKey] = try await value { user.apiKeysAuth.fetchAPIKeys($0) }
            #expect(all.map(\.disabled) == [true])
            #expect(await failure { user.apiKeysAuth.enableAPIKey(made.objectId, completion: $0) } == nil)
            #expect(await failure { user.apiKeysAuth.deleteAPIKey(made.objectId, completion: $0) } == nil)

            #expect(await failure { user.logOut(completion: $0) } == nil)
            #expect(!user.isLoggedIn && app.currentUser == nil)
            #expect(await failure { user.remove(completion: $0) } == nil)
            #expect(user.state == .removed && app.allUsers[user.id] == nil)
            let bob: User = try await value {
                app.login(credentials: .emailPassword(email: "bob@example.org", password: password), $0)
            }
            #expect(await failure { bob.delete(completion: $0) } == nil)
            #expect(bob.state == .removed)
            let gone = await failure { done in
                app.login(credentials: .emailPassword(email: "bob@example.org", password: password)) { result in
                    if case .failure(let error) = result { done(error) } else { done(nil) }
                }
            }
            #expect(gone?.code == .invalidPassword)
        }
    }
}
