import Testing
import TomboloModel

@testable import TomboloAuthentication

/// The limits on guessing, from a caller's point of view.
@Suite struct LoginLimitTests {
    /// The seconds that an attempt has to wait, or nil if it wasn't refused for that.
    private func wait(_ body: () async throws -> Void) async throws -> Int? {
        do {
            try await body()
        } catch AuthenticationError.tooManyAttempts(let seconds) {
            return seconds
        } catch AuthenticationError.wrongCredentials {
        }
        return nil
    }

    @Test("a network that guesses at ever-changing accounts waits; other networks and its previous users don't")
    func networks() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            try await place.register("bob@example.org")
            let server = place.authenticator
            func logIn(_ email: String, _ password: String, _ address: String) async throws -> Int? {
                try await wait { _ = try await server.login(email: email, password: password, address: address) }
            }
            // A wait longer than any pair of account and address ever gets shows that the limit on the network caused
            // it.
            let window = Authenticator.failedLoginWindowOfAddressSeconds
            let pairWindow = Authenticator.failedLoginWindowSeconds
            var begin = ContinuousClock.now
            var network = 0
            var seconds = 0
            // Retry from another network if hardly any of the guesses still counted when bob came.
            repeat {
                begin = .now
                network += 1
                #expect(
                    try await logIn(AccountPlace.email, AccountPlace.password, "2001:db8:0:\(network)::1") == nil)
                // Each guess comes from another address of one customer's network.
                for number in 0..<Authenticator.maximumFailedLoginsOfAddress {
                    let address = "2001:db8:0:\(network)::\(String(number, radix: 16)):2"
                    #expect(try await logIn("guess\(number)@example.org", "Spring2027", address) == nil, "\(number)")
                }
                seconds =
                    try await logIn("bob@example.org", AccountPlace.password, "2001:db8:0:\(network)::3") ?? 0
            } while seconds <= Int(pairWindow) && ContinuousClock.now - begin >= .seconds(window - pairWindow)
            #expect(seconds > Int(pairWindow))
            #expect(try await logIn("bob@example.org", AccountPlace.password, "2001:db8:0:0::3") == nil)
            #expect(
                try await logIn(AccountPlace.email, AccountPlace.password, "2001:db8:0:\(network)::4") == nil)
        }
    }

    @Test("codes that a network guesses for many accounts count for as long as passwords do")
    func codes() throws {
        var limiter = ActionLimiter()
        let maximum = try #require(ActionLimiter.maximumOfAddress[.code])
        for _ in 0..<maximum { try limiter.begin(.code, address: "192.0.2.1", now: 0) }
        let window = Int(Authenticator.failedLoginWindowOfAddressSeconds)
        #expect(throws: AuthenticationError.tooManyAttempts(retryAfterSeconds: window)) {
            try limiter.begin(.code, address: "192.0.2.1", now: 0)
        }
        try limiter.begin(.code, address: "192.0.2.2", now: 0)
        limiter.giveBack(.code, address: "192.0.2.1")
        try limiter.begin(.code, address: "192.0.2.1", now: 0)
    }

    @Test(
        "a refusal says how long to wait",
        arguments: [(1, "a second"), (40, "40 seconds"), (120, "120 seconds"), (121, "3 minutes"), (900, "15 minutes")])
    func texts(seconds: Int, text: String) {
        let description = AuthenticationError.tooManyAttempts(retryAfterSeconds: seconds).description
        #expect(description.hasSuffix("try again in \(text)."), "\(description)")
    }
}
