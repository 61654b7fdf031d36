import HTTPTypes
import HummingbirdTesting
import Testing
import TomboloHTTP
import TomboloModel

@testable import TomboloAuthentication

@Suite struct SessionRouteTests {
    @Test("a device logs in, exchanges its token, sees its login in the list, and logs out")
    func session() async throws {
        try await AccountPlace.with { place in
            let user = try await place.register()
            try await AccountClient.with(place) { call in
                let login = try await call.login(device: #"{"name": "Ann's phone", "platform": "iOS 18"}"#)
                #expect(login.status == 200 && login["userID"] == user.stringValue, "\(login.text)")
                #expect(login["expiresAt"]?.hasSuffix("Z") == true && login["provider"] == "local-userpass")
                let next = try await call(.post, "/session", token: login["refreshToken"])
                #expect(next.status == 200 && next["sessionID"] == login["sessionID"], "\(next.text)")
                #expect(next["deviceID"] == login["deviceID"] && next["refreshToken"] != login["refreshToken"])
                let again = try await call.login(device: #"{"id": "\#(login["deviceID"] ?? "")"}"#)
                #expect(again["deviceID"] == login["deviceID"] && again["sessionID"] != login["sessionID"])

                let other = try await call.login(device: #"{"name": "Desk", "id": "whatever"}"#)
                let list = try await call(.get, "/sessions", token: other["accessToken"])
                #expect(
                    list.json["sessions"]?.list.map { $0["isCurrent"] } == [.bool(true), .bool(false)], "\(list.text)")
                #expect(list.json["sessions"]?.list.first?["device"]?["name"]?.text == "Desk")

                #expect(try await call(.delete, "/session", token: again["refreshToken"]).status == 204)
                let ended = try await call(.post, "/session", token: again["refreshToken"])
                #expect(ended.status == 401 && ended["error"] == "invalidSession", "\(ended.text)")
                let refused = try await call(.get, "/sessions", token: again["accessToken"])
                #expect(refused.status == 401 && refused["error"] == "invalidSession", "\(refused.text)")
            }
        }
    }

    @Test("a user ends one login, all others, or all, but nobody else's")
    func ending() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            try await place.register("bob@example.org")
            try await AccountClient.with(place) { call in
                let logins = [try await call.login(), try await call.login(), try await call.login()]
                let bob = try await call.login("bob@example.org")
                let address = "/sessions/\(logins[0]["sessionID"] ?? "")"
                let foreign = try await call(.delete, address, token: bob["accessToken"])
                #expect(foreign.status == 404 && foreign["error"] == "valueNotFound")
                #expect(try await call(.delete, "/sessions/nonsense", token: bob["accessToken"]).status == 400)
                #expect(try await call(.delete, address, token: logins[1]["accessToken"]).status == 204)
                #expect(try await call(.post, "/session", token: logins[0]["refreshToken"]).status == 401)
                #expect(try await call(.delete, "/sessions?except=mine", token: logins[1]["accessToken"]).status == 400)
                #expect(
                    try await call(.delete, "/sessions?except=current", token: logins[1]["accessToken"]).status == 204)
                #expect(try await call(.post, "/session", token: logins[2]["refreshToken"]).status == 401)
                #expect(try await call(.get, "/sessions", token: logins[1]["accessToken"]).status == 200)
                #expect(try await call(.delete, "/sessions", token: logins[1]["accessToken"]).status == 204)
                #expect(try await call(.get, "/sessions", token: logins[1]["accessToken"]).status == 401)
                #expect(try await call(.get, "/sessions", token: bob["accessToken"]).status == 200)
            }
        }
    }

    @Test("without the right token every account route that isn't public answers 401, with RealmSwift's error name")
    func tokensAreNeeded() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            let login = try await place.login()
            let app = AccountClient.application(place.authenticator)
            try await app.test(.router) { client in
                let call = AccountClient(client: client)
                for route in app.routes {
                    let path = route.path.replacing("{id}", with: ObjectId.generate().stringValue)
                    let method = try #require(HTTPRequest.Method(route.method))
                    let takesRefreshToken = route.path == "/session"
                    guard !route.isOpen || takesRefreshToken else { continue }
                    // Each kind of token is sent where the other belongs.
                    for token in [nil, "nonsense", takesRefreshToken ? login.token : login.refreshToken] {
                        let answer = try await call(method, path, token: token)
                        #expect(answer.status == 401 && answer["error"] == "invalidSession", "\(route) \(answer.text)")
                    }
                }
            }
            _ = try await place.authenticator.verify(login.token)
        }
    }
}
