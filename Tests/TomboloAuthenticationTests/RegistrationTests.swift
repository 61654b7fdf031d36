import Foundation
import Logging
import PostgresClient
import Synchronization
import TestSupport
import Testing
import TomboloModel

@testable import TomboloAuthentication

@Suite struct RegistrationTests {
    @Test("an address can log in once its mail has been read, with a token that works once")
    func confirmation() async throws {
        try await MailPlace.with { mail in
            #expect(try await mail.register() == false)
            await #expect(throws: AuthenticationError.wrongCredentials) { try await mail.place.login() }
            let (token, id) = try mail.token(in: try await mail.folder.mails(1)[0])
            for (token, id) in [
                (token, ObjectId.generate().stringValue), ((token.hasPrefix("A") ? "B" : "A") + token.dropFirst(), id),
                ("", id), (token, ""),
                (String(repeating: "x", count: 10_000), id),
            ] {
                await #expect(throws: AuthenticationError.badMailToken) {
                    try await mail.server.confirm(token: token, tokenID: id)
                }
            }
            // A token for one purpose doesn't work for another.
            await #expect(throws: AuthenticationError.badMailToken) {
                try await mail.server.reset(password: "battery staple", token: token, tokenID: id)
            }
            try await mail.server.confirm(token: token, tokenID: id)
            await #expect(throws: AuthenticationError.badMailToken) {
                try await mail.server.confirm(token: token, tokenID: id)
            }
            _ = try await mail.place.login()
            let stored = try await mail.place.pool.query("SELECT count(*) FROM tombolo.mail_token")
            #expect(try stored[0, 0].int == 0)
        }
    }

    @Test("another mail replaces the previous one, and a mail expires after a while")
    func resending() async throws {
        try await MailPlace.with { mail in
            _ = try await mail.register()
            let first = try mail.token(in: try await mail.folder.mails(1)[0])
            try await mail.server.resendConfirmation(email: AccountPlace.email)
            let second = try mail.token(in: try await mail.folder.mails(2)[1])
            await #expect(throws: AuthenticationError.badMailToken) {
                try await mail.server.confirm(token: first.token, tokenID: first.id)
            }
            await #expect(throws: AuthenticationError.badMailToken) {
                try await mail.server.confirm(
                    token: second.token, tokenID: second.id,
                    now: Date().addingTimeInterval(Double(MailTokens.lifetimeSeconds) + 1))
            }
            try await mail.server.confirm(token: second.token, tokenID: second.id)
            _ = try await mail.place.login()
        }
    }

    @Test("a forgotten password is replaced with a mailed token, which ends all logins")
    func resetting() async throws {
        try await MailPlace.with { mail in
            try await mail.place.register()
            let login = try await mail.place.login()
            try await mail.server.sendReset(email: " ANN@example.org")
            let (token, id) = try mail.token(in: try await mail.folder.mails(1)[0])
            for weak in ["short", "ann-2027!"] {
                await #expect {
                    try await mail.server.reset(password: weak, token: token, tokenID: id)
                } throws: { error in
                    if case .invalidPassword = error as? AuthenticationError { true } else { false }
                }
            }
            try await mail.server.reset(password: "battery staple", token: token, tokenID: id)
            await #expect(throws: AuthenticationError.badMailToken) {
                try await mail.server.reset(password: "a third password", token: token, tokenID: id)
            }
            await #expect(throws: AuthenticationError.endedSession) {
                try await mail.server.refresh(login.refreshToken)
            }
            await #expect(throws: AuthenticationError.wrongCredentials) { try await mail.place.login() }
            _ = try await mail.server.login(email: AccountPlace.email, password: "battery staple")
        }
    }

    @Test("a password change ends the other logins and gives this one new tokens")
    func changing() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            let server = place.authenticator
            let (mine, other) = (try await place.login(device: LoginDevice(name: "phone")), try await place.login())
            let caller = Caller(userID: mine.userID, sessionID: mine.sessionID)
            await #expect(throws: AuthenticationError.wrongCredentials) {
                try await server.changePassword(of: caller, from: "wrong password", to: "battery staple")
            }
            let next = try await server.changePassword(of: caller, from: AccountPlace.password, to: "battery staple")
            #expect(next.deviceID == mine.deviceID)
            _ = try await server.verify(next.token)
            _ = try await server.refresh(next.refreshToken)
            for login in [mine, other] {
                await #expect(throws: AuthenticationError.revokedToken) { try await server.verify(login.token) }
                await #expect(throws: AuthenticationError.endedSession) {
                    try await server.refresh(login.refreshToken)
                }
            }
            #expect(try await server.sessions(of: mine.userID).map(\.device.name) == ["phone"])
            // An account without a password has none to change.
            try await place.switchOn("anon-user")
            let anonymous = try await server.login(.anonymous)
            await #expect(throws: AuthenticationError.wrongCredentials) {
                try await server.changePassword(
                    of: Caller(userID: anonymous.userID, sessionID: anonymous.sessionID), from: "", to: "battery staple"
                )
            }
        }
    }

    @Test("of several simultaneous password changes exactly one takes effect")
    func changingAtOnce() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            let server = place.authenticator
            var callers: [Caller] = []
            for number in 0..<6 {
                let login = try await place.login(device: LoginDevice(name: "device \(number)"))
                callers.append(Caller(userID: login.userID, sessionID: login.sessionID))
            }
            let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
                for (number, caller) in callers.enumerated() {
                    group.addTask {
                        do {
                            _ = try await server.changePassword(
                                of: caller, from: AccountPlace.password, to: "battery staple \(number)")
                            return number
                        } catch AuthenticationError.wrongCredentials, AuthenticationError.endedSession {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: [Int]()) { if let number = $1 { $0.append(number) } }
            }
            try #require(winners.count == 1, "\(winners)")
            _ = try await server.login(email: AccountPlace.email, password: "battery staple \(winners[0])")
        }
    }

    @Test("a mailed link doesn't outlive a password change")
    func linkAfterChange() async throws {
        try await MailPlace.with { mail in
            try await mail.place.register()
            try await mail.server.sendReset(email: AccountPlace.email)
            let token = try mail.token(in: try await mail.folder.mails(1)[0])
            let login = try await mail.place.login()
            _ = try await mail.server.changePassword(
                of: Caller(userID: login.userID, sessionID: login.sessionID), from: AccountPlace.password,
                to: "battery staple")
            await #expect(throws: AuthenticationError.badMailToken) {
                try await mail.server.reset(password: "something else", token: token.token, tokenID: token.id)
            }
            _ = try await mail.server.login(email: AccountPlace.email, password: "battery staple")
        }
    }

    @Test("a mailed link for setting a password stops working once the account has another address")
    func linkAfterMove() async throws {
        try await MailPlace.with { mail in
            try await mail.place.register()
            try await mail.server.sendReset(email: AccountPlace.email)
            let token = try mail.token(in: try await mail.folder.mails(1)[0])
            #expect(try await mail.server.resetEmail(token: token.token, tokenID: token.id) == AccountPlace.email)
            try await mail.place.pool.execute("UPDATE tombolo.account SET email = 'other@example.org'")
            #expect(try await mail.server.resetEmail(token: token.token, tokenID: token.id) == nil)
            await #expect(throws: AuthenticationError.badMailToken) {
                try await mail.server.reset(password: "something else", token: token.token, tokenID: token.id)
            }
            _ = try await mail.server.login(email: "other@example.org", password: AccountPlace.password)
        }
    }

    @Test("mails tell the owner what strangers aren't told, and nobody's mailbox is flooded")
    func strangers() async throws {
        try await MailPlace.with { mail in
            try await mail.place.register()
            #expect(try await mail.register() == false)
            #expect(try await mail.register("nobody@example.org") == false)
            try await mail.server.sendReset(email: "unknown@example.org")
            try await mail.server.resendConfirmation(email: "unknown@example.org")
            let mails = try await mail.folder.mails(2)
            #expect(mails.count { $0.contains("You already have an account") } == 1)
            #expect(!mails.contains { $0.contains("To: unknown@example.org") })
            for _ in 1..<ActionLimiter.maximumMails { try await mail.server.sendReset(email: AccountPlace.email) }
            for email in [AccountPlace.email, " Ann@Example.ORG "] {
                await #expect {
                    try await mail.server.sendReset(email: email, address: "203.0.113.9")
                } throws: { error in
                    if case .tooManyAttempts = error as? AuthenticationError { true } else { false }
                }
            }
        }
    }

    @Test("without a way to send mails, requests that need one are refused")
    func noMail() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            try await place.switchOn("local-userpass", #"{"registration": true}"#)
            for email in [AccountPlace.email, "nobody@example.org"] {
                await #expect(throws: AuthenticationError.noMail) {
                    _ = try await place.authenticator.requestRegistration(
                        email: email, password: AccountPlace.password, name: nil)
                }
                await #expect(throws: AuthenticationError.noMail) {
                    try await place.authenticator.sendReset(email: email)
                }
            }
        }
    }

    @Test("a mail that the hook refuses is offered again, a bounded number of times")
    func retries() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hook-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = folder.appending(path: "hook.sh")
        try "#!/bin/sh\necho called >> \(folder.path())/calls\nif grep -q '^To: ann@'; then exit 75; fi\n".write(
            to: script, atomically: true, encoding: .utf8)
        let room = MailRoom(
            try #require(try MailHook("command:/bin/sh \(script.path())")), logger: Logger(label: "mail"),
            pauses: [.milliseconds(1), .milliseconds(1), .milliseconds(1), .milliseconds(1), .milliseconds(1)])
        try room.post { .alreadyRegistered("ann@example.org") }
        // The time limit is long, so that a shell that is slow to start isn't killed and counted as an attempt.
        try await MailHook.$commandSeconds.withValue(600) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await room.run() }
                func calls() -> Int {
                    let text = (try? String(contentsOf: folder.appending(path: "calls"), encoding: .utf8)) ?? ""
                    return text.split(separator: "\n").count
                }
                while calls() < MailRoom.maximumAttempts { try await Task.sleep(for: .milliseconds(10)) }
                // The next mail is accepted. It is the only call since, so the first mail wasn't offered again.
                try room.post { .alreadyRegistered("bob@example.org") }
                while calls() < MailRoom.maximumAttempts + 1 { try await Task.sleep(for: .milliseconds(10)) }
                #expect(calls() == MailRoom.maximumAttempts + 1)
                group.cancelAll()
            }
        }
    }

    @Test("mails are written to a folder whatever its name, and only the server's user can read them")
    func folderNames() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "Ann's 100% mails \(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path(percentEncoded: false)
        try await #require(try MailHook("folder:\(path)")).deliver(.test("ann@example.org"))
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: path).first)
        let facts = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        #expect(facts[.posixPermissions] as? UInt == 0o600)
        #expect(try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8).hasPrefix("To: ann@example.org\n"))
    }

    #if os(Linux)
        @Test("no file that a program reads a mail from has a name, by which others could find the token in it")
        func unnamedMails() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "hook-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let script = folder.appending(path: "hook.sh")
            let lines = [
                "#!/bin/sh", "readlink /proc/self/fd/0 > \(folder.path())/name", "cat > \(folder.path())/mail", "",
            ]
            try lines.joined(separator: "\n").write(to: script, atomically: true, encoding: .utf8)
            let hook = try #require(try MailHook("command:/bin/sh \(script.path())"))
            try await MailHook.$commandSeconds.withValue(600) { try await hook.deliver(.test("ann@example.org")) }
            let name = try String(contentsOf: folder.appending(path: "name"), encoding: .utf8)
            #expect(name.hasSuffix(" (deleted)\n"), "\(name)")
            let mail = try String(contentsOf: folder.appending(path: "mail"), encoding: .utf8)
            #expect(mail == MailHook.message(.test("ann@example.org")))
        }
    #endif

    @Test("a program that hangs is killed once its time is up, so that other mails get their turn")
    func hangingCommand() async throws {
        let hook = try #require(try MailHook("command:/bin/sleep 600"))
        await MailHook.$commandSeconds.withValue(0.2) {
            await #expect(throws: MailDeliveryError.killed(program: "/bin/sleep", limit: .seconds(0.2))) {
                try await hook.deliver(.test("ann@example.org"))
            }
        }
    }

    @Test("each mail goes through the mail hook that is set at the time, and fails if none is set")
    func changingCarrier() async throws {
        let (old, new) = (MailFolder(), MailFolder())
        defer {
            old.remove()
            new.remove()
        }
        let carrier = Mutex<MailHook?>(.folder(old.url))
        let room = MailRoom(carrier: { carrier.withLock { $0 } }, logger: Logger(label: "mail"))
        try await room.deliver(.test("ann@example.org"))
        carrier.withLock { $0 = .folder(new.url) }
        #expect(room.hasCarrier)
        try await room.deliver(.test("bob@example.org"))
        #expect(old.mails().count == 1 && new.mails().count == 1)
        #expect(new.mails().first?.contains("To: bob@example.org") == true)
        carrier.withLock { $0 = nil }
        #expect(!room.hasCarrier)
        await #expect(throws: AuthenticationError.noMail) { try await room.deliver(.test("cem@example.org")) }
    }

    @Test("a full mail room refuses every request alike")
    func fullRoom() throws {
        let room = MailRoom(.folder(URL(fileURLWithPath: "/nowhere")), logger: Logger(label: "mail"))
        for _ in 0..<MailRoom.maximumCount { try room.post { nil } }
        #expect(throws: AuthenticationError.busy) { try room.post { nil } }
    }

    @Test("descriptions of mails and credentials don't show their secrets")
    func descriptions() {
        let secret = MailTokens.Secret()
        let mail = Mail.confirm("ann@example.org", secret, link: "https://example.org/confirm?x=1")
        #expect(mail.link == "https://example.org/confirm?x=1&token=\(secret.text)&tokenId=\(secret.id)")
        for value in [mail, LoginCredentials.apiKey(secret.text)] as [Any] {
            var text = "\(value)\(String(reflecting: value))"
            dump(value, to: &text)
            #expect(!text.contains(secret.text), "\(text)")
        }
    }

    @Test("passwords known from leaks are refused")
    func breachedPasswords() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "breached-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let known = ["password", "correct horse", "12345678", "qwertyuiop", "letmein!"]
        for end in ["\n", "\r\n", ""] {
            let lines = known.map { ($0.sha1, Int.random(in: 1...9_999_999)) }.sorted { $0.0 < $1.0 }
            var text = lines.map { "\($0.0):\($0.1)" }.joined(separator: end.isEmpty ? "\n" : end)
            text += end
            try text.write(to: file, atomically: true, encoding: .utf8)
            let breached = try BreachedPasswords(path: file.path())
            for password in known { #expect(breached.contains(password), "\(password)") }
            for number in 0..<200 { #expect(!breached.contains("unknown \(number)")) }
        }
        #expect(throws: AuthenticationError.self) { try BreachedPasswords(path: "/nowhere") }
        let breached = try BreachedPasswords(path: file.path())
        try await AccountPlace.with { place in
            let accounts = AccountRegistry(
                pool: place.pool, hasher: PasswordHasher(parameters: .weakForTests), breached: breached)
            await #expect(
                throws: AuthenticationError.invalidPassword(reason: "it appeared in a data leak: choose another.")
            ) {
                try await accounts.register(email: "x@example.org", password: "correct horse", displayName: "X")
            }
            try await accounts.register(email: "x@example.org", password: "battery staple", displayName: "X")
        }
    }
}
