import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import PostgresClient
import TestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import TomboloAuthentication

@Suite struct AccountRouteTests {
    @Test("registering, logging in, changing the password, viewing the account and deleting it work over HTTP")
    func account() async throws {
        try await AccountPlace.with { place in
            try await place.switchOn("local-userpass", #"{"registration": true, "confirmation": "none"}"#)
            try await AccountClient.with(place) { call in
                let body = #"{"email": "Ann@example.org", "password": "correct horse"}"#
                let made = try await call(.post, "/register", body)
                #expect(made.status == 201 && made["status"] == "confirmed", "\(made.text)")
                let again = try await call(.post, "/register", body)
                #expect(again.status == 409 && again["error"] == "accountNameInUse", "\(again.text)")
                for (bad, status) in [
                    (#"{"email": "nonsense", "password": "correct horse"}"#, 422),
                    (#"{"email": "x@example.org", "password": "short"}"#, 422),
                    (#"{"email": "x@example.org", "password": "password1"}"#, 422), ("{}", 400), ("[", 400),
                ] {
                    let answer = try await call(.post, "/register", bad)
                    #expect(answer.status == status && answer["error"] == "badRequest", "\(answer.text)")
                }
                let login = try await call.login()
                let account = try await call(.get, "/account", token: login["accessToken"])
                #expect(account["email"] == "ann@example.org" && account["name"] == "ann", "\(account.text)")
                #expect(account.json["identities"]?.list.first?["provider"]?.text == "local-userpass")
                #expect(account.json["customData"] == .object([:]) && account["createdAt"]?.hasSuffix("Z") == true)
                let wrong = try await call(
                    .post, "/password", token: login["accessToken"],
                    #"{"currentPassword": "wrong password", "password": "battery staple"}"#)
                #expect(wrong.status == 401 && wrong["error"] == "invalidPassword", "\(wrong.text)")
                let changed = try await call(
                    .post, "/password", token: login["accessToken"],
                    #"{"currentPassword": "correct horse", "password": "battery staple"}"#)
                #expect(changed.status == 200 && changed["deviceID"] == login["deviceID"], "\(changed.text)")
                #expect(try await call(.get, "/account", token: login["accessToken"]).status == 401)
                #expect(try await call(.delete, "/account", token: changed["accessToken"]).status == 204)
                let gone = try await call(.get, "/account", token: changed["accessToken"])
                #expect(gone.status == 401 && gone["error"] == "invalidSession", "\(gone.text)")
                #expect(try await call(.post, "/session", token: changed["refreshToken"]).status == 401)
            }
        }
    }

    @Test("an anonymous user links an address, creates a key, and logs in with each, over HTTP")
    func anonymous() async throws {
        try await AccountPlace.with { place in
            try await place.switchOn("anon-user")
            try await place.switchOn("api-key")
            try await place.switchOn("local-userpass", #"{"registration": true, "confirmation": "none"}"#)
            try await AccountClient.with(place) { call in
                let login = try await call(.post, "/login", #"{"provider": "anon-user"}"#)
                #expect(login.status == 200 && login["provider"] == "anon-user", "\(login.text)")
                let token = login["accessToken"]
                let linked = try await call(
                    .post, "/link", token: token, #"{"email": "ann@example.org", "password": "correct horse"}"#)
                #expect(linked.status == 200 && linked["userID"] == login["userID"], "\(linked.text)")
                #expect(linked.json["identities"]?.list.count == 2)
                #expect(try await call.login()["userID"] == login["userID"])
                let refused = try await call(.post, "/link", token: token, #"{"provider": "anon-user"}"#)
                #expect(refused.status == 400 && refused["error"] == "badRequest", "\(refused.text)")

                let key = try await call(.post, "/api-keys", token: token, #"{"name": "robot"}"#)
                #expect(key.status == 201 && key.json["disabled"] == .bool(false), "\(key.text)")
                let twice = try await call(.post, "/api-keys", token: token, #"{"name": "robot"}"#)
                #expect(twice.status == 409 && twice["error"] == "apiKeyAlreadyExists", "\(twice.text)")
                let address = "/api-keys/\(key["id"] ?? "")"
                let shown = try await call(.get, address, token: token)
                #expect(shown["name"] == "robot" && shown["key"] == nil, "\(shown.text)")
                let body = #"{"provider": "api-key", "key": "\#(key["key"] ?? "")"}"#
                #expect(try await call(.post, "/login", body)["userID"] == login["userID"])
                #expect(try await call(.put, "\(address)/disable", token: token).status == 204)
                let disabled = try await call(.post, "/login", body)
                #expect(disabled.status == 401 && disabled["error"] == "invalidPassword", "\(disabled.text)")
                #expect(try await call(.put, "\(address)/enable", token: token).status == 204)
                let robot = try await call(.post, "/login", body)
                #expect(robot.status == 200)
                // Someone who finds the key must not be able to create another or take over the account.
                for (method, path, body) in [
                    (.post, "/api-keys", #"{"name": "second"}"#), (.put, "\(address)/disable", nil),
                    (.delete, address, nil), (.delete, "/account", nil), (.delete, "/sessions", nil),
                    (.delete, "/sessions?except=current", nil),
                    (.delete, "/sessions/\(login["sessionID"] ?? "0")", nil),
                    (.post, "/link", #"{"email": "eve@example.org", "password": "correct horse"}"#),
                    (.post, "/password", #"{"currentPassword": "correct horse", "password": "correct cow"}"#),
                ] as [(HTTPRequest.Method, String, String?)] {
                    let refused = try await call(method, path, token: robot["accessToken"], body)
                    #expect(refused.status == 403, "\(method) \(path): \(refused.text)")
                }
                #expect(try await call(.get, "/account", token: robot["accessToken"]).status == 200)
                #expect(try await call(.delete, address, token: token).status == 204)
                let gone = try await call(.get, address, token: token)
                #expect(gone.status == 404 && gone["error"] == "valueNotFound", "\(gone.text)")
                #expect(try await call(.get, "/api-keys", token: token).json["keys"] == .array([]))

                let unknown = try await call(.post, "/login", #"{"provider": "oauth2-facebook", "token": "x"}"#)
                #expect(unknown.status == 404 && unknown["error"] == "authProviderNotFound", "\(unknown.text)")
            }
        }
    }

    @Test("text and status of logins, registrations, mails and links tell a stranger nothing about an address")
    func enumeration() async throws {
        try await AccountPlace.with { place in
            let room = MailRoom(.folder(URL(fileURLWithPath: "/nowhere")), logger: Logger(label: "mail"))
            let server = await Authenticator(
                pool: place.pool, tokens: place.tokens, hasher: PasswordHasher(parameters: .weakForTests), mail: room)
            try await place.switchOn("local-userpass", #"{"registration": true}"#)
            try await place.switchOn("anon-user")
            try await place.register("known@example.org")
            try await place.register("disabled@example.org")
            try await AccountRegistry(pool: place.pool).setEnabled(false, email: "disabled@example.org")
            let anonymous = try await place.authenticator.login(.anonymous).token
            try await AccountClient.application(server).test(.router) { client in
                let call = AccountClient(client: client)
                let requests: [(path: String, token: String?, body: String)] = [
                    ("/login", nil, #"{"email": "EMAIL", "password": "wrong password"}"#),
                    ("/register", nil, #"{"email": "EMAIL", "password": "some password"}"#),
                    ("/confirm/send", nil, #"{"email": "EMAIL"}"#), ("/reset/send", nil, #"{"email": "EMAIL"}"#),
                    ("/link", anonymous, #"{"email": "EMAIL", "password": "wrong password"}"#),
                ]
                for (path, token, body) in requests {
                    var answers: Set<String> = []
                    for email in ["known@example.org", "disabled@example.org", "unknown@example.org"] {
                        let answer = try await call(.post, path, token: token, body.replacing("EMAIL", with: email))
                        answers.insert("\(answer.status) \(answer.text)")
                    }
                    #expect(answers.count == 1, "\(path): \(answers)")
                }
            }
        }
    }

    @Test("a mail is in the language that the request prefers; the answer stays in English")
    func mailLanguages() async throws {
        try await MailPlace.with { mail in
            try await AccountClient.application(mail.server).test(.router) { client in
                let call = AccountClient(client: client)
                let registration = #"{"email": "ann@example.org", "password": "correct horse"}"#
                let weak = try await call(
                    .post, "/register", languages: "de", registration.replacing("correct horse", with: "short"))
                #expect(weak.status == 422 && weak.text.contains("at least 8 characters"), "\(weak.text)")
                for (index, (languages, text)) in [
                    ("de-CH, fr;q=0.8", "bestätigen Sie sie innerhalb von 30 Minuten"),
                    ("it, fr;q=0.8", "confirmez-la dans les 30"), ("it", "confirm it within 30 minutes"),
                ].enumerated() {
                    let sent = try await call(.post, "/register", languages: languages, registration)
                    #expect(sent.status == 202 && sent["status"] == "pending", "\(sent.text)")
                    let received = try await mail.folder.mails(index + 1)[index]
                    #expect(received.contains(text), "\(received)")
                }
                try await mail.place.register()
                let reset = try await call(
                    .post, "/reset/send", languages: "es", #"{"email": "ann@example.org"}"#)
                #expect(reset.status == 202, "\(reset.text)")
                #expect(try await mail.folder.mails(4)[3].contains("Alguien pidió una nueva contraseña"))
            }
        }
    }
}
