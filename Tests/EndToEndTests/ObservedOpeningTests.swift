import Foundation
import Testing
import Tombolo
import TomboloObservables

/// The states of `@AsyncOpen` against a gateway process.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct ObservedOpeningTests {
    final class Leaflet: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var text: String
    }

    private func user(_ app: App, _ name: String) async throws -> User {
        let (email, password) = ("\(name)@example.org", "correct horse battery")
        try await app.emailPasswordAuth.registerUser(email: email, password: password)
        return try await app.login(credentials: .emailPassword(email: email, password: password))
    }

    private func subscribed(_ user: User) -> Realm.Configuration {
        var configuration = user.flexibleSyncConfiguration { subscriptions in
            subscriptions.append(QuerySubscription<Leaflet>(name: "all"))
        }
        configuration.objectTypes = [Leaflet.self]
        return configuration
    }

    @Test("A view waits for a user, then for the download, and follows a switch and a log-out")
    func course() async throws {
        try await AnyAppServer.with(gatewayArguments: ["--development"]) { server in
            try await server.gateway.start()
            try await server.migrate([
                "providers", "set", "local-userpass", #"{"registration": true, "confirmation": "none"}"#,
            ])
            let (host, port) = await server.gateway.address
            try await follow("http://\(host):\(port)", server.folder)
        }
    }

    @MainActor
    private func follow(_ address: String, _ folder: URL) async throws {
        func app(_ id: String) -> App {
            App(
                id: id,
                configuration: AppConfiguration(baseURL: address, rootDirectory: folder.appending(path: id)))
        }
        // Another device has written an object.
        let writer = try await user(app("writer"), "ada")
        let source = try await Realm(configuration: subscribed(writer), downloadBeforeOpen: .always)
        try source.write { source.add(Leaflet(value: ["text": "read me"])) }
        try await source.syncSession?.waitForUpload()

        let reader = app("reader")
        // Only the configuration's settings count, not its user.
        var opening = ObservedOpening(appID: "reader", configuration: subscribed(writer))
        guard case .waitingForUser = opening.state else {
            Issue.record("\(opening.state)")
            return
        }
        let bob = try await user(reader, "bob")
        let eve = try await user(reader, "eve")
        for user in [eve, bob] {
            reader.switch(to: user)
            while true {
                if case .open(let realm) = opening.state, realm.syncSession?.parentUser() == user {
                    #expect(realm.objects(Leaflet.self).map(\.text).sorted() == ["read me"])
                    break
                }
                if case .error(let error) = opening.state {
                    // The opening gives up when its connection breaks, as happens when either end stalls for too long.
                    // A view that is shown again would retry.
                    guard (error as? SyncError)?.code == .connectionFailed else { throw error }
                    opening = ObservedOpening(appID: "reader", configuration: subscribed(writer))
                }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        try await bob.logOut()
        try await eve.logOut()
        while true {
            if case .waitingForUser = opening.state { break }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
