import HTTPTypes
import PostgresClient
import Testing
import TomboloHTTP
import TomboloModel

@testable import TomboloAuthentication

/// The requests for which a gateway demands a code from accounts with a second factor.
@Suite struct AccountCodeTests {
    private static let codes = ["abcd-efgh-ijkl-mnop", "bcde-fghi-jklm-nopq"]
    /// The ID of a key that Ann has disabled.
    private static let oldKey = "6a05d3fa0123456789abcdef"

    /// A request that requires a code.
    struct Demand: Sendable, CustomTestStringConvertible {
        let method: HTTPRequest.Method
        let path: String
        /// The members of the request's body, or an empty string if there are none.
        let body: String
        /// The answer's status if the code is right.
        let status: Int

        var testDescription: String { "\(method) \(path)" }

        func send(_ call: AccountClient, token: String?, code: String?) async throws -> AccountClient.Answer {
            let members = [body, code.map { #""code": "\#($0)""# } ?? ""].filter { !$0.isEmpty }
            return try await call(
                method, path, token: token, members.isEmpty ? nil : "{\(members.joined(separator: ", "))}")
        }
    }

    static let demands = [
        Demand(
            method: .post, path: "/password",
            body: #""currentPassword": "correct horse", "password": "battery staple""#, status: 200),
        Demand(
            method: .post, path: "/link", body: #""email": "ann@example.org", "password": "correct horse""#,
            status: 200),
        Demand(method: .post, path: "/api-keys", body: #""name": "robot""#, status: 201),
        Demand(method: .delete, path: "/account", body: "", status: 204),
        Demand(method: .put, path: "/api-keys/\(oldKey)/enable", body: "", status: 204),
    ]

    /// Runs `body` at a gateway where Ann has a second factor.
    private static func with(
        _ body: @Sendable (_ place: AccountPlace, _ call: AccountClient) async throws -> Void
    ) async throws {
        try await AccountPlace.with { place in
            try await place.switchOn(Provider.apiKey)
            let ann = try await place.register()
            try await place.addSecondFactor(to: ann, recoveryCodes: codes)
            try await place.pool.query(
                """
                INSERT INTO tombolo.api_key (id, user_id, name, secret_hash, created_at, disabled_at)
                VALUES ($1, $2, 'old', sha256('old'), now(), now())
                """, [.bytea(try ObjectId(string: oldKey).bytes), .bytea(ann.bytes)])
            try await AccountClient.with(place) { try await body(place, $0) }
        }
    }

    /// Everything that the requests with a code change.
    private static func state(_ place: AccountPlace) async throws -> String {
        try await place.pool.query(
            """
            SELECT concat_ws(' ', (SELECT count(*) FROM tombolo.account), (SELECT count(*) FROM tombolo.api_key),
                (SELECT count(*) FROM tombolo.api_key WHERE disabled_at IS NULL), (SELECT count(*) FROM tombolo.identity), (SELECT encode(key, 'hex') FROM tombolo.credential))
            """)[0, 0].string
    }

    @Test(
        "whatever outlasts a token requires a code: 403 without one, 401 with a wrong one, and nothing changes",
        arguments: demands)
    func demanding(_ demand: Demand) async throws {
        try await Self.with { place, call in
            let token = try await call.login()["accessToken"]
            let before = try await Self.state(place)
            let without = try await demand.send(call, token: token, code: nil)
            #expect(without.status == 403 && without["code"] == "second_factor_required", "\(without.text)")
            #expect(without["error"] == "authError" && without["message"]?.contains("requires a code") == true)
            #expect(without["hint"]?.contains(#""code""#) == true)
            for code in ["", "123456", "zzzz-zzzz-zzzz-zzzz"] {
                let wrong = try await demand.send(call, token: token, code: code)
                #expect(wrong.status == 401 && wrong["code"] == "wrong_credentials", "\(code): \(wrong.text)")
            }
            #expect(try await Self.state(place) == before)
            #expect(try await call.login().status == 200)
            let right = try await demand.send(call, token: token, code: Self.codes[0])
            #expect(right.status == demand.status, "\(right.text)")
        }
    }

    @Test("a code works for one request, even if that request asks for something impossible")
    func once() async throws {
        try await Self.with { place, call in
            let token = try await call.login()["accessToken"]
            let key = Self.demands[2]
            #expect(try await key.send(call, token: token, code: Self.codes[0]).status == 201)
            #expect(try await key.send(call, token: token, code: Self.codes[0]).status == 401)
            #expect(try await key.send(call, token: token, code: Self.codes[1]).status == 409)
            let deletion = Self.demands[3]
            #expect(try await deletion.send(call, token: token, code: Self.codes[1]).status == 401)
            #expect(try await call(.get, "/account", token: token).status == 200)
        }
    }

    @Test("disabling or deleting a key needs no code, since it only ends logins")
    func disabling() async throws {
        try await Self.with { place, call in
            let token = try await call.login()["accessToken"]
            let path = "/api-keys/\(Self.oldKey)"
            #expect(try await Self.demands[4].send(call, token: token, code: Self.codes[0]).status == 204)
            #expect(try await call(.get, path, token: token).json["disabled"] == .bool(false))
            #expect(try await call(.put, "\(path)/disable", token: token).status == 204)
            #expect(try await call(.get, path, token: token).json["disabled"] == .bool(true))
            #expect(try await call(.delete, path, token: token).status == 204)
        }
    }

    @Test("wrong codes are counted together, whatever they were for, and make the right one wait")
    func limits() async throws {
        try await Self.with { place, call in
            let token = try await call.login()["accessToken"]
            var statuses: [Int] = []
            for number in 0..<(3 * SecondFactor.maximumFailures) {
                let demand = Self.demands[number % Self.demands.count]
                statuses.append(try await demand.send(call, token: token, code: "123456").status)
            }
            #expect(statuses.prefix(SecondFactor.maximumFailures).allSatisfy { $0 == 401 }, "\(statuses)")
            #expect(statuses.contains(429) && Set(statuses).isSubset(of: [401, 429]), "\(statuses)")
            // This holds at another server too. The delay is long enough that it can't end before the right code comes.
            try await place.delayCodes()
            let other = await place.server()
            let userID = try #require(try await place.pool.query("SELECT id FROM tombolo.account").first)[0].bytes
            await #expect {
                try await other.deleteAccount(try #require(ObjectId(bytes: userID)), code: Self.codes[0])
            } throws: { error in
                if case .tooManyAttempts = error as? AuthenticationError { true } else { false }
            }
        }
    }

    @Test("the account's second factor counts however the user logged in; an account without one needs no code")
    func providers() async throws {
        try await Self.with { place, call in
            try await place.switchOn(Provider.anonymous)
            let login = try await call(.post, "/login", #"{"provider": "anon-user"}"#)
            let (token, key) = (login["accessToken"], Self.demands[2])
            #expect(try await key.send(call, token: token, code: nil).status == 201)
            let user = try ObjectId(string: try #require(login["userID"]))
            let code = "cdef-ghij-klmn-opqr"
            try await place.addSecondFactor(to: user, recoveryCodes: [code])
            #expect(try await Self.demands[3].send(call, token: token, code: nil).status == 403)
            // The code is another account's.
            #expect(try await Self.demands[3].send(call, token: token, code: Self.codes[0]).status == 401)
            #expect(try await Self.demands[3].send(call, token: token, code: code).status == 204)
        }
    }
}
