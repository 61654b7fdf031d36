import Foundation
import Synchronization
import Testing
import TomboloAuthentication
import TomboloModel

@testable import Tombolo

/// Providers that call an external server, against a gateway process.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct OutsideProviderTests {
    private static func settings(_ keys: String) -> String {
        #"{"jwksURL": "\#(keys)", "issuers": ["school"], "audiences": ["memos"], "algorithms": ["RS256", "ES256"]}"#
    }

    /// Configures a provider before anything uses it. Servers check for changes every two seconds.
    private func enable(_ server: AnyAppServer, _ provider: String, _ settings: String) async throws {
        let registry = ProviderRegistry(pool: server.pool)
        try await registry.set(settings, of: provider)
        try await registry.setEnabled(true, provider)
    }

    private func error(_ body: () async throws -> Void) async -> AppError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? AppError
        }
    }

    private final class Shared<Value: Sendable>: Sendable {
        let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
    }

    /// A mail as a hook receives it; missing texts are empty.
    private struct Sent {
        let purpose: String
        let to: String
        let token: String
        let tokenID: String
        let link: String

        private init(_ request: OutsideServer.Request) throws {
            let texts = try JSONDecoder().decode([String: String].self, from: Data(request.body.utf8))
            purpose = texts["purpose", default: ""]
            to = texts["to", default: ""]
            token = texts["token", default: ""]
            tokenID = texts["tokenID", default: ""]
            link = texts["link", default: ""]
        }

        /// Waits for the mail with this number, counting from 0. A mail that was offered repeatedly counts once,
        /// because a hook that is too slow is called again, too.
        /// - Parameter times: how often the mail must have been offered.
        static func mail(_ number: Int, _ hook: OutsideServer, offered times: Int = 1) async throws -> Sent {
            while true {
                let offers = try hook.requests.map { try Sent($0) }
                var mails: [Sent] = []
                for offer in offers where !mails.contains(where: { $0.isSame(as: offer) }) { mails.append(offer) }
                if mails.count > number, offers.count(where: { $0.isSame(as: mails[number]) }) >= times {
                    return mails[number]
                }
                try await Task.sleep(for: .milliseconds(20))
            }
        }

        private func isSame(as other: Sent) -> Bool { purpose == other.purpose && tokenID == other.tokenID }
    }

    /// Retries while the gateway doesn't know the provider yet, or while the external server, which runs in this
    /// process, is too slow for it.
    private func login(_ app: App, _ credentials: Credentials) async throws -> User {
        while true {
            do {
                return try await app.login(credentials: credentials)
            } catch let error as AppError where error.code == .authProviderNotFound {
                try await Task.sleep(for: .milliseconds(100))
            } catch let error as AppError where error.status == 503 || error.code == .functionExecutionError {
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// The error that refuses a login, ignoring errors caused by a slow external server.
    private func refusal(_ app: App, _ credentials: Credentials) async throws -> AppError? {
        while true {
            let refused = await error { _ = try await app.login(credentials: credentials) }
            guard refused?.status == 503 || refused?.code == .functionExecutionError else { return refused }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// How many more times an issuer may have been asked for its keys: once every 30 seconds.
    private static func refetches(since began: ContinuousClock.Instant) -> Int {
        Int((ContinuousClock.now - began) / .seconds(30))
    }

    @Test(
        "An issuer's RS256 and ES256 tokens log devices in; forged, confused and stale ones don't, and fetch no keys")
    func tokens() async throws {
        let keys = [try OutsideKey.rs256("r"), OutsideKey.es256("e")]
        let set = #"{"keys":[\#(try keys.map { try $0.jwk() }.joined(separator: ","))]}"#
        let began = ContinuousClock.now
        try await OutsideServer.with({ _ in .json(set) }) { issuer, address in
            try await Phone.withServer(
                prepare: { try await enable($0, "custom-token", Self.settings("\(address)/keys")) }
            ) { _, phone in
                let app = phone.launch()
                for key in keys {
                    let user = try await login(app, .jwt(token: try key.token("pupil-\(key.id)")))
                    #expect(user.identities.map(\.providerType) == ["custom-token"])
                    #expect(user.identities.map(\.identifier) == ["pupil-\(key.id)"])
                    let realm = try await phone.open(user)
                    try await realm.objects(Memo.self).subscribe()
                    try realm.write { realm.add(Memo(value: ["text": key.id])) }
                    try await realm.syncSession?.waitForUpload()
                    #expect(try await login(app, .jwt(token: key.token("pupil-\(key.id)"))) === user)
                    try await user.logOut()
                }
                let now = Int(Date().timeIntervalSince1970)
                for (key, other) in zip(keys, keys.reversed()) {
                    let good = try key.token("pupil")
                    let bad = [
                        key.confusedToken("pupil"), key.unsignedToken("pupil"), good + "x", String(good.dropLast(6)),
                        // One key's id with the other key's algorithm and signature.
                        try other.token("pupil", header: #"{"alg":"\#(other.algorithm)","kid":"\#(key.id)"}"#),
                        try key.token("pupil", header: #"{"alg":"\#(other.algorithm)","kid":"\#(key.id)"}"#),
                        try key.token("pupil", header: #"{"alg":"\#(key.algorithm)","kid":"nobody's"}"#),
                        try key.token("pupil", ["aud": #""another app""#]), try key.token("pupil", ["iss": #""evil""#]),
                        try key.token("pupil", ["exp": "\(now - 3_600)"]),
                        try key.token("pupil", ["nbf": "\(now + 3_600)"]),
                        try key.token("pupil", ["iat": "\(now + 3_600)"]),
                    ]
                    for token in bad {
                        let refused = try await refusal(app, .jwt(token: token))
                        #expect(refused?.code == .invalidPassword, "\(token)")
                    }
                }
                #expect(app.currentUser == nil)
            }
            // One fetch at first, and another only if half a minute has passed.
            #expect(issuer.count("/keys") <= 3 + Self.refetches(since: began))
        }
    }

    @Test(
        "Hundreds of logins go on while an issuer rotates its keys, and forged key ids don't cause fetches")
    func rotation() async throws {
        let (first, second) = (OutsideKey.es256("first"), OutsideKey.es256("second"))
        let set = Shared(#"{"keys":[\#(try first.jwk())]}"#)
        let began = ContinuousClock.now
        try await OutsideServer.with({ _ in .json(set.value.withLock { $0 }) }) { issuer, address in
            try await Phone.withServer(
                environment: Requests.environment,
                prepare: { try await enable($0, "custom-token", Self.settings("\(address)/keys")) }
            ) { server, phone in
                _ = try await login(phone.launch(), .jwt(token: try first.token("anybody")))
                try await Requests.with(server.gateway.url) { post in
                    @Sendable func login(_ token: String, _ number: Int) async throws -> Requests.Answer {
                        try await post(
                            "/login", #"{"provider": "custom-token", "token": "\#(token)"}"#,
                            from: "10.0.\(number / 200).\(number % 200)")
                    }
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 0..<300 {
                            group.addTask {
                                if number == 100 {
                                    // Both keys, then only the second, as RFC 7517 suggests for rotation.
                                    let both = "\(try first.jwk()),\(try second.jwk())"
                                    set.value.withLock { $0 = #"{"keys":[\#(both)]}"# }
                                }
                                let good = try await login(try first.token("pupil-\(number)"), number)
                                #expect(good.status == 200, "\(good)")
                                let forged = try first.token(
                                    "pupil", header: #"{"alg":"ES256","kid":"forged-\#(number)"}"#)
                                var refused = try await login(forged, number)
                                // The issuer may answer too slowly.
                                while refused.status == 503 {
                                    try await Task.sleep(for: .seconds(1))
                                    refused = try await login(forged, number)
                                }
                                #expect(refused.status == 401, "\(refused)")
                            }
                        }
                        try await group.waitForAll()
                    }
                    let fetched = issuer.count("/keys")
                    #expect(fetched <= 5 + Self.refetches(since: began), "\(fetched) fetches for 600 logins")
                    let beganAgain = ContinuousClock.now
                    // Within half a minute of the last fetch, any token that names the new key makes the gateway find
                    // it.
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 0..<100 {
                            group.addTask {
                                let token = try second.token("pupil-\(number)")
                                while try await login(token, number).status != 200 {
                                    try await Task.sleep(for: .seconds(1))
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                    #expect(issuer.count("/keys") <= fetched + 2 + Self.refetches(since: beganAgain))
                }
            }
        }
    }

    @Test(
        "An issuer that is down, silent, endless, huge, redirecting or garbled only costs its own users a clear error")
    func hostileIssuers() async throws {
        let key = OutsideKey.es256("k")
        let set = #"{"keys":[\#(try key.jwk())]}"#
        try await OutsideServer.with({ _ in .json(set) }) { inside, insideAddress in
            let answers: [String: OutsideServer.Answer] = [
                "/silent": .silence, "/trickle": .trickle, "/flood": .flood,
                "/redirect": .status("302 Found", head: "Location: \(insideAddress)/keys\r\n"),
                "/moved": .status("308 Permanent Redirect", head: "Location: \(insideAddress)/keys\r\n"),
                "/page": .status("200 OK", head: "Content-Type: text/html\r\n", body: "<html>"),
                "/list": .json("[\(set)]"), "/none": .json(#"{"keys":[]}"#),
                "/failing": .status("500 Internal Server Error", body: set), "/good": .json(set),
            ]
            try await OutsideServer.with({ answers[$0.path] ?? .status("404 Not Found") }) { outside, address in
                var names = answers.keys.map { String($0.dropFirst()) }.filter { $0 != "good" } + ["missing"]
                names.sort()
                try await Phone.withServer(
                    environment: Requests.environment,
                    prepare: { server in
                        for name in names + ["good"] {
                            try await enable(server, "custom-token-\(name)", Self.settings("\(address)/\(name)"))
                        }
                        try await enable(server, "custom-token-down", Self.settings("http://127.0.0.1:9/keys"))
                    }
                ) { server, _ in
                    let token = try key.token("pupil")
                    let tried = names + ["down"]
                    try await Requests.with(server.gateway.url) { post in
                        @Sendable func login(_ name: String) async throws -> Requests.Answer {
                            try await post("/login", #"{"provider": "custom-token-\#(name)", "token": "\#(token)"}"#)
                        }
                        // The provider isn't known yet, or the issuer was too slow, in which case the gateway doesn't
                        // ask again for half a minute.
                        while true {
                            let status = try await login("good").status
                            if status == 200 { break }
                            try #require([404, 503].contains(status))
                            try await Task.sleep(for: status == 404 ? .milliseconds(100) : .seconds(1))
                        }
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for name in tried {
                                group.addTask {
                                    let refused = try await login(name)
                                    #expect(refused.status == 503, "\(name): \(refused)")
                                    #expect(refused["error"] == "internalServerError", "\(name): \(refused)")
                                    // Refused at once now: the gateway doesn't ask the issuer for every token.
                                    let again = try await login(name)
                                    #expect(again.status == 503, "\(name): \(again)")
                                }
                            }
                            for _ in 0..<4 {
                                group.addTask {
                                    let accepted = try await login("good")
                                    #expect(accepted.status == 200, "\(accepted)")
                                }
                            }
                            try await group.waitForAll()
                        }
                    }
                    for name in names { #expect(outside.count("/\(name)") <= 2, "\(name)") }
                    #expect(inside.requests.isEmpty)
                }
            }
        }
    }

    @Test("A custom function says who a payload is about; if it fails or is slow, the device is told")
    func function() async throws {
        try await OutsideServer.with({ request in
            guard request.head.contains("Bearer hunter2") else { return .status("400 Bad Request") }
            return switch request.body {
            case #"{"payload":{"badge":"7"}}"#:
                .json(#"{"userID": "badge-7", "name": "Ada", "profile": {"team": "blue"}}"#)
            case #"{"payload":{"badge":"slow"}}"#: .trickle
            case #"{"payload":{"badge":"broken"}}"#: .json("[]")
            default: .status("403 Forbidden")
            }
        }) { outside, address in
            try await Phone.withServer(
                prepare: {
                    try await enable(
                        $0, "custom-function", #"{"url": "\#(address)/f", "secret": "hunter2", "timeoutSeconds": 3}"#)
                }
            ) { _, phone in
                let app = phone.launch()
                let user = try await login(app, .function(payload: ["badge": "7"]))
                #expect(user.identities.map(\.identifier) == ["badge-7"])
                #expect(user.profile.name == "Ada")
                #expect(try await login(app, .function(payload: ["badge": "7"])) === user)
                let refused = try await refusal(app, .function(payload: ["badge": "8"]))
                #expect(refused?.code == .invalidPassword)
                for badge in ["slow", "broken"] {
                    let failed = await error {
                        _ = try await app.login(credentials: .function(payload: ["badge": .string(badge)]))
                    }
                    #expect(failed?.code == .functionExecutionError, "\(badge): \(String(describing: failed))")
                }
                #expect(app.currentUser === user)
            }
        }
    }

    @Test("An HTTP mail hook carries all account mails, is called again when it fails, and can authenticate its caller")
    func mailHook() async throws {
        let state = Shared(0)
        try await OutsideServer.with({ _ in
            state.value.withLock { count in
                count += 1
                return count == 1 ? .status("500 Internal Server Error") : .json("{}")
            }
        }) { outside, address in
            try await Phone.withServer(
                environment: ["TOMBOLO_MAIL": "\(address)/mail", "TOMBOLO_MAIL_SECRET": "hunter2"],
                prepare: {
                    try await $0.migrate([
                        "providers", "set", "local-userpass",
                        #"{"registration": true, "confirmURL": "https://example.org/c", "resetURL": "https://example.org/r"}"#,
                    ])
                    // Servers pick up the setting within two seconds.
                    try await Task.sleep(for: .seconds(3))
                }
            ) { server, phone in
                try await useMails(phone.launch(), outside)
                let log = try String(contentsOf: server.gateway.messages, encoding: .utf8)
                #expect(!log.contains("hunter2"))
                for number in [0, 1, 3] {
                    let mail = try await Sent.mail(number, outside)
                    #expect(!log.contains(mail.token))
                }
                let requests = outside.requests
                #expect(requests.allSatisfy { $0.head.contains("Bearer hunter2") && $0.method == "POST" })
            }
        }
    }

    private func useMails(_ app: App, _ hook: OutsideServer) async throws {
        let (address, password) = ("ada@example.org", "correct horse battery")
        let mails = app.emailPasswordAuth
        try await mails.registerUser(email: address, password: password)
        let early = await error {
            _ = try await app.login(credentials: .emailPassword(email: address, password: password))
        }
        #expect(early?.code == .invalidPassword)
        // The mail is offered again, because the hook refused it at first.
        let first = try await Sent.mail(0, hook, offered: 2)
        #expect(first.purpose == "confirm")
        #expect(first.to == address)
        #expect(first.link.hasPrefix("https://example.org/c?token="))
        try await mails.resendConfirmationEmail(address)
        let second = try await Sent.mail(1, hook)
        #expect(second.purpose == "confirm")
        #expect(second.tokenID != first.tokenID)
        let stale = await error { try await mails.confirmUser(first.token, tokenId: first.tokenID) }
        #expect(stale?.code == .badRequest)
        try await mails.confirmUser(second.token, tokenId: second.tokenID)
        _ = try await app.login(credentials: .emailPassword(email: address, password: password))
        // Somebody who registers the address again learns nothing, but its owner is told.
        try await mails.registerUser(email: address, password: "a stranger's password")
        let notice = try await Sent.mail(2, hook)
        #expect(notice.purpose == "alreadyRegistered")
        #expect(notice.token.isEmpty)
        #expect(notice.link.isEmpty)
        try await mails.sendResetPasswordEmail(address)
        let reset = try await Sent.mail(3, hook)
        #expect(reset.purpose == "reset")
        #expect(reset.link.hasPrefix("https://example.org/r?token="))
        try await mails.resetPassword(to: "another long one", token: reset.token, tokenId: reset.tokenID)
        _ = try await app.login(credentials: .emailPassword(email: address, password: "another long one"))
    }

    @Test("A key created by migration-tool logs a program in")
    func serverKey() async throws {
        try await Phone.withServer { server, phone in
            let printed = try await server.migrate(["api-keys", "add", "robot"])
            let key = try #require(printed.firstMatch(of: /tombolo_k_[A-Za-z0-9_-]+/)?.0)
            let user = try await phone.launch().login(credentials: .serverAPIKey(String(key)))
            #expect(user.isLoggedIn)
            let realm = try await phone.open(user)
            try await realm.objects(Memo.self).subscribe()
            try realm.write { realm.add(Memo(value: ["text": "from a program"])) }
            try await realm.syncSession?.waitForUpload()
        }
    }
}
