import Foundation
import PostgresClient
import Synchronization
import Testing
import TomboloModel

@testable import Tombolo

/// An account is deleted while its devices have edits that aren't uploaded.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct DeletedAccountTests {
    private static let credentials = Credentials.emailPassword(
        email: "ada@example.org", password: "correct horse battery")

    enum Deleter: CaseIterable { case user, administrator }

    /// Retries requests to a restarted gateway: the client may not have noticed yet that an old connection is broken.
    private static func reaching<R>(_ request: () async throws -> R) async throws -> R {
        while true {
            do {
                return try await request()
            } catch let error as AppError where error.code == .httpRequestFailed {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    @Test(
        "Edits waiting on three devices never land, each device is told, and a new account for the address is another user",
        arguments: Deleter.allCases)
    func pendingEdits(by deleter: Deleter) async throws {
        try await Phone.withServer { server, first in
            let phones = [
                first, try await Phone(server, "tablet", first.mails), try await Phone(server, "laptop", first.mails),
            ]
            let apps = phones.map { $0.launch() }
            try await apps[0].emailPasswordAuth.registerUser(
                email: "ada@example.org", password: "correct horse battery")
            var users: [User] = []
            var realms: [Realm] = []
            let errors = Mutex<[[SyncError]]>([[], [], []])
            for index in 0..<3 {
                let user = try await apps[index].login(credentials: Self.credentials)
                var configuration = user.flexibleSyncConfiguration()
                configuration.objectTypes = [Memo.self]
                configuration.syncConfiguration = SyncConfiguration(user: user) { error, _ in
                    if !error.isOfSlowOpening { errors.withLock { $0[index].append(error) } }
                }
                let realm = try await Realm.open(configuration: configuration)
                try await realm.objects(Memo.self).subscribe()
                try realm.write { realm.add(Memo(value: ["text": "before \(index)"])) }
                try await realm.syncSession?.waitForUpload()
                // The laptop stays connected and goes on editing.
                if index < 2 {
                    await (try #require(realm.syncSession)).suspendAndWait()
                }
                try realm.write { for _ in 0..<20 { realm.add(Memo(value: ["text": "waiting \(index)"])) } }
                users.append(user)
                realms.append(realm)
            }
            let file = try #require(realms[0].configuration.fileURL)
            switch deleter {
            case .user: try await users[0].delete()
            case .administrator:
                try await server.migrate(["user", "delete", "ada@example.org"])
                realms[0].syncSession?.resume()
            }
            realms[1].syncSession?.resume()
            for index in (deleter == .user ? 1 : 0)..<3 {
                while users[index].isLoggedIn {
                    if index == 2 { try realms[2].write { realms[2].add(Memo(value: ["text": "late"])) } }
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(apps[index].currentUser == nil)
                while errors.withLock({ $0[index].last?.code != .clientUserError }) {
                    try await Task.sleep(for: .milliseconds(20))
                }
                // As with Realm, the file stays readable until the app removes the user.
                #expect(realms[index].objects(Memo.self).where { $0.text == "waiting \(index)" }.count == 20)
                let gone = users[index]
                await #expect(throws: AppError.self) { try await gone.refreshCustomData() }
            }
            if deleter == .user {
                #expect(users[0].state == .removed)
                #expect(!FileManager.default.fileExists(atPath: file.path))
            }

            func texts(_ pattern: String) async throws -> Int64 {
                try await server.pool.query("SELECT count(*) FROM memo WHERE text LIKE $1", [.text(pattern)])[0, 0]
                    .int64
            }
            // Uploads that the gateway had already begun for the laptop still land, though its session has ended. Only
            // once the gateway is gone is it certain that they have.
            try await server.gateway.kill9()
            try await server.untilDisconnected()
            let late = try await texts("late")
            try await server.gateway.start()
            // Another person registers the address again, on one of these devices.
            try await Self.reaching {
                try await apps[1].emailPasswordAuth.registerUser(
                    email: "ada@example.org", password: "correct horse battery")
            }
            let heir = try await Self.reaching { try await apps[1].login(credentials: Self.credentials) }
            #expect(heir.id != users[1].id)
            let realm = try await phones[1].open(heir)
            #expect(realm.configuration.fileURL != realms[1].configuration.fileURL)
            try await realm.objects(Memo.self).subscribe()
            try realm.write { realm.add(Memo(value: ["text": "of the heir"])) }
            try await realm.syncSession?.waitForUpload()
            for index in 0..<2 { #expect(try await texts("waiting \(index)") == 0) }
            #expect(try await texts("late") == late)
            #expect(try await texts("before %") == 3)
            #expect(try await texts("of the heir") == 1)
            // The app removes the old user, with the file.
            try await users[1].remove()
            #expect(users[1].state == .removed)
        }
    }
}
