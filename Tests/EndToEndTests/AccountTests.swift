import Foundation
import PostgresClient
import Synchronization
import TestSupport
import Testing
import TomboloAuthentication
import TomboloModel

@testable import Tombolo

/// User accounts against a real gateway process: every provider and every call that needs no external issuer.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct AccountTests {
    private static let password = "correct horse battery"

    private func withServer(_ body: (AnyAppServer, _ phone: Phone) async throws -> Void) async throws {
        try await Phone.withServer(body)
    }

    private func credentials(_ name: String, _ password: String = Self.password) -> Credentials {
        .emailPassword(email: "\(name)@example.org", password: password)
    }

    private func error(_ body: () async throws -> Void) async -> AppError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? AppError
        }
    }

    @Test("A user registers, syncs, and is still there after a relaunch, with new tokens on request")
    func registration() async throws {
        try await withServer { _, phone in
            let app = phone.launch()
            try await app.emailPasswordAuth.registerUser(email: "ada@example.org", password: Self.password)
            #expect(app.currentUser == nil)
            let user = try await app.login(credentials: credentials("ada"))
            #expect(user.identities.map(\.providerType) == ["local-userpass"])
            #expect(user.profile.email == "ada@example.org")
            let realm = try await phone.open(user)
            try await realm.objects(Memo.self).subscribe()
            try realm.write { realm.add(Memo(value: ["text": "hello"])) }
            try await realm.syncSession?.waitForUpload()

            let again = try #require(phone.launch().currentUser)
            #expect(again.id == user.id)
            let before = try #require(again.refreshToken)
            try await again.refreshCustomData()
            #expect(again.refreshToken != before)
            #expect(again.isLoggedIn)
        }
    }

    @Test("A wrong password and an unknown address get the same answer")
    func wrongPassword() async throws {
        try await withServer { _, phone in
            let app = phone.launch()
            try await app.emailPasswordAuth.registerUser(email: "ada@example.org", password: Self.password)
            let wrong = await error { _ = try await app.login(credentials: credentials("ada", "not the password")) }
            let unknown = await error { _ = try await app.login(credentials: credentials("nobody")) }
            #expect(wrong?.code == .invalidPassword)
            #expect(unknown == wrong)
            #expect(app.currentUser == nil)
        }
    }

    @Test("An anonymous user gets an e-mail address and stays the same user")
    func linking() async throws {
        try await withServer { _, phone in
            let app = phone.launch()
            let guest = try await app.login(credentials: .anonymous)
            #expect(try await app.login(credentials: .anonymous) === guest)
            try await guest.linkUser(credentials: credentials("grace"))
            #expect(Set(guest.identities.map(\.providerType)) == ["anon-user", "local-userpass"])
            try await guest.logOut()
            #expect(guest.state == .loggedOut)
            let again = try await app.login(credentials: credentials("grace"))
            #expect(again === guest)
        }
    }

    @Test("Writes made just before a log-out are uploaded after the next login")
    func writingAndLoggingOut() async throws {
        try await withServer { server, phone in
            let app = phone.launch()
            try await app.emailPasswordAuth.registerUser(email: "ada@example.org", password: Self.password)
            let user = try await app.login(credentials: credentials("ada"))
            let realm = try await phone.open(user)
            try await realm.objects(Memo.self).subscribe()
            realm.syncSession?.suspend()
            try realm.write { realm.add(Memo(value: ["text": "off-line"])) }
            try await user.logOut()
            #expect(realm.syncSession?.state == .inactive)
            #expect(try await app.login(credentials: credentials("ada")) === user)
            try await realm.syncSession?.waitForUpload()
            let rows = try await server.pool.query("SELECT text FROM memo")
            let texts = try rows.map { try $0[0].string }
            #expect(texts == ["off-line"])
        }
    }

    @Test("A login that is ended elsewhere logs the device out, and its session reports why")
    func revocation() async throws {
        try await withServer { server, phone in
            let app = phone.launch()
            try await app.emailPasswordAuth.registerUser(email: "ada@example.org", password: Self.password)
            let user = try await app.login(credentials: credentials("ada"))
            let realm = try await phone.open(user)
            try await realm.objects(Memo.self).subscribe()
            try await server.migrate(["user", "revoke", "ada@example.org"])
            while user.isLoggedIn { try await Task.sleep(for: .milliseconds(20)) }
            #expect(app.currentUser == nil)
            #expect(realm.syncSession?.error?.code == .clientUserError)
        }
    }

    @Test("Two processes of an app share a login, whichever of them refreshes its tokens")
    func twoProcesses() async throws {
        try await withServer { _, phone in
            let app = phone.launch()
            try await app.emailPasswordAuth.registerUser(email: "ada@example.org", password: Self.password)
            let user = try await app.login(credentials: credentials("ada"))
            let other = try #require(phone.launch().currentUser)
            for _ in 1...3 {
                try await other.refreshCustomData()
                _ = try await user.refreshAccessToken()
                #expect(user.refreshToken == other.refreshToken)
            }
            #expect(user.isLoggedIn && other.isLoggedIn)
        }
    }

    @Test("API keys log their user in until they're disabled")
    func apiKeys() async throws {
        try await withServer { server, phone in
            let app = phone.launch()
            try await app.emailPasswordAuth.registerUser(email: "ada@example.org", password: Self.password)
            let user = try await app.login(credentials: credentials("ada"))
            let made = try await user.apiKeysAuth.createAPIKey(named: "script")
            let text = try #require(made.key)
            let robot = try await Phone(server, "robot", phone.mails).launch()
            #expect(try await robot.login(credentials: .userAPIKey(text)).id == user.id)
            #expect(try await user.apiKeysAuth.fetchAPIKeys().map(\.name) == ["script"])
            #expect(try await user.apiKeysAuth.fetchAPIKey(made.objectId).key == nil)
            try await user.apiKeysAuth.disableAPIKey(made.objectId)
            let refused = await error { _ = try await robot.login(credentials: .userAPIKey(text)) }
            #expect(refused?.code == .invalidPassword)
            try await user.apiKeysAuth.enableAPIKey(made.objectId)
            try await user.apiKeysAuth.deleteAPIKey(made.objectId)
            #expect(try await user.apiKeysAuth.fetchAPIKeys().isEmpty)
        }
    }

    @Test("An account with a second factor is linked, given API keys or deleted only with a code, which apps can send")
    func secondFactor() async throws {
        try await withServer { server, phone in
            let app = phone.launch()
            let user = try await app.login(credentials: .anonymous)
            let codes = ["aaaa", "bbbb", "cccc", "dddd"]
            try await server.pool.query("UPDATE tombolo.account SET second_factor_at = now()")
            for code in codes {
                try await server.pool.query(
                    """
                    INSERT INTO tombolo.recovery_code (user_id, code_hash)
                    SELECT id, sha256(convert_to($1, 'UTF8')) FROM tombolo.account
                    """, [.text("tombolo recovery code \(code)")])
            }
            let refusals = [
                await error { _ = try await user.linkUser(credentials: credentials("grace")) },
                await error { _ = try await user.apiKeysAuth.createAPIKey(named: "script") },
                await error { try await user.delete() },
            ]
            for refusal in refusals {
                #expect(refusal?.code == .authError && refusal?.requiresCode == true)
                #expect(refusal?.message.contains("requires a code") == true, "\(String(describing: refusal))")
            }
            let wrong = await error { try await user.delete(code: "zzzz") }
            #expect(wrong?.code == .authError && wrong?.requiresCode == false && user.isLoggedIn)

            try await user.linkUser(credentials: credentials("grace"), code: codes[0])
            #expect(user.identities.count == 2)
            let key = try await user.apiKeysAuth.createAPIKey(named: "script", code: codes[1])
            #expect(key.key != nil)
            try await user.apiKeysAuth.disableAPIKey(key.objectId)
            #expect(await error { try await user.apiKeysAuth.enableAPIKey(key.objectId) }?.requiresCode == true)
            try await user.apiKeysAuth.enableAPIKey(key.objectId, code: codes[2])
            try await user.delete(code: codes[3])
            #expect(user.state == .removed)
        }
    }

    @Test("Mails confirm an address and replace a forgotten password")
    func mails() async throws {
        try await withServer { server, phone in
            try await server.migrate([
                "providers", "set", "local-userpass",
                #"{"registration": true, "confirmation": "mail", "confirmURL": "https://example.org/confirm", "resetURL": "https://example.org/reset"}"#,
            ])
            let app = phone.launch()
            // Servers pick up the setting within seconds.
            var name = 0
            while true {
                name += 1
                try await app.emailPasswordAuth.registerUser(email: "ada\(name)@example.org", password: Self.password)
                if await error({ _ = try await app.login(credentials: credentials("ada\(name)")) }) != nil { break }
                try await Task.sleep(for: .milliseconds(200))
            }
            let confirmation = try await phone.mail()
            let wrong = await error {
                try await app.emailPasswordAuth.confirmUser("no", tokenId: confirmation.tokenID)
            }
            #expect(wrong?.code == .badRequest)
            try await app.emailPasswordAuth.confirmUser(confirmation.token, tokenId: confirmation.tokenID)
            let user = try await app.login(credentials: credentials("ada\(name)"))

            try await app.emailPasswordAuth.sendResetPasswordEmail("nobody@example.org")
            try await app.emailPasswordAuth.sendResetPasswordEmail("ada\(name)@example.org")
            var reset = try await phone.mail()
            while reset.tokenID == confirmation.tokenID {
                try await Task.sleep(for: .milliseconds(20))
                reset = try await phone.mail()
            }
            try await app.emailPasswordAuth.resetPassword(
                to: "another long one", token: reset.token, tokenId: reset.tokenID)
            #expect(await error { _ = try await app.login(credentials: credentials("ada\(name)")) } != nil)
            // The reset ended all sessions, so this login returns the same user.
            await #expect(throws: AppError.self) { try await user.refreshCustomData() }
            #expect(!user.isLoggedIn)
            #expect(try await app.login(credentials: credentials("ada\(name)", "another long one")) === user)
        }
    }

    @Test("Deleting a user deletes the account, and the device's files")
    func deletion() async throws {
        try await withServer { server, phone in
            let app = phone.launch()
            try await app.emailPasswordAuth.registerUser(email: "ada@example.org", password: Self.password)
            let user = try await app.login(credentials: credentials("ada"))
            var realm: Realm? = try await phone.open(user)
            try await realm?.objects(Memo.self).subscribe()
            let file = try #require(realm?.configuration.fileURL)
            realm = nil
            try await user.delete()
            #expect(user.state == .removed)
            #expect(app.allUsers.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: file.path))
            let count = try await server.pool.query("SELECT count(*) FROM tombolo.account")[0, 0].int64
            #expect(count == 0)
            #expect(await error { _ = try await app.login(credentials: credentials("ada")) }?.code == .invalidPassword)
        }
    }
}
