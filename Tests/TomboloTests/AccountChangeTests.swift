import Foundation
import Synchronization
import Testing

@testable import Tombolo

/// Nothing listens at the gateway's address.
@MainActor
@Suite("Observing an app and its users", .timeLimit(.minutes(15)))
struct AccountChangeTests {
    private let folder: TemporaryFolder
    private let app: App

    init() throws {
        folder = try TemporaryFolder()
        app = App(
            id: "observed",
            configuration: AppConfiguration(
                baseURL: "http://127.0.0.1:0", defaultRequestTimeoutMS: 1_000, rootDirectory: folder.url))
    }

    /// What a listener saw when it was called.
    private final class Calls: Sendable {
        private let all = Mutex<[String]>([])

        func add(_ call: String) { all.withLock { $0.append(call) } }
        var list: [String] { all.withLock { $0 } }
    }

    private func logIn(_ id: String) async throws -> User {
        let claims = Data(#"{"sub":"\#(id)"}"#.utf8).base64EncodedString().replacing("=", with: "")
        return try await app.login(credentials: .accessToken("e30.\(claims).secret"))
    }

    private func until(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test("An app reports logins, switches, logouts and removals, after the change, on the main thread")
    func app() async throws {
        let calls = Calls()
        let token = app.observe { app in
            MainActor.preconditionIsolated()
            calls.add(app.currentUser?.id ?? "nobody")
        }
        let ada = try await logIn("ada")
        try await until { calls.list == ["ada"] }
        let bob = try await logIn("bob")
        try await until { calls.list == ["ada", "bob"] }
        app.switch(to: ada)
        try await until { calls.list == ["ada", "bob", "ada"] }
        // The server can't be told, but observers must still hear of it.
        try? await ada.logOut()
        try await until { calls.list == ["ada", "bob", "ada", "bob"] }
        try? await bob.remove()
        try await until { calls.list.last == "nobody" }
        withExtendedLifetime(token) {}
    }

    @Test("A user reports only their own changes, until the token is invalidated or released")
    func user() async throws {
        let ada = try await logIn("ada")
        let bob = try await logIn("bob")
        let calls = Calls()
        let token = ada.observe { calls.add("\($0.state)") }
        var other: AccountChangeToken? = bob.observe { calls.add($0.id) }
        other = nil
        #expect(other == nil)
        try? await bob.logOut()
        try? await ada.logOut()
        try await until { calls.list == ["loggedOut"] }
        token.invalidate()
        _ = try await logIn("ada")
        let marker = Calls()
        let last = app.observe { _ in marker.add("") }
        _ = try await logIn("eve")
        try await until { !marker.list.isEmpty }
        #expect(calls.list == ["loggedOut"])
        withExtendedLifetime(last) {}
    }

    @Test("Code that names an app's ID gets the first app created with it")
    func known() {
        let id = "known-\(UUID().uuidString)"
        let configuration = AppConfiguration(baseURL: "http://127.0.0.1:7", rootDirectory: folder.url)
        _ = App(id: id, configuration: configuration)
        _ = App(id: id, configuration: AppConfiguration(baseURL: "http://127.0.0.1:8", rootDirectory: folder.url))
        #expect(App.known(id: id).configuration == configuration)
    }

    @Test("Configurations are equal if they open the same file in the same way")
    func configurations() async throws {
        let user = try await logIn("ada")
        #expect(user.flexibleSyncConfiguration() == user.flexibleSyncConfiguration())
        #expect(user.flexibleSyncConfiguration() != user.configuration(partitionValue: "a"))
        #expect(user.configuration(partitionValue: "a") == user.configuration(partitionValue: "a"))
        #expect(user.flexibleSyncConfiguration() != (try await logIn("bob")).flexibleSyncConfiguration())
        var local = folder.configuration()
        #expect(local == folder.configuration())
        local.objectTypes = [Room.self]
        #expect(local != folder.configuration())
        local = folder.configuration()
        local.schemaVersion = 2
        #expect(local != folder.configuration())
    }
}
