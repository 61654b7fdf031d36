import Foundation
import JWTKit
import Testing
import TomboloModel

@testable import TomboloAuthentication

@Suite struct TokenTests {
    private let secret = String(repeating: "s", count: TokenConfiguration.minimumSecretByteCount)
    private let user = ObjectId(high: 5, low: 6)
    private let session = ObjectId(high: 7, low: 8)
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private let keys = TestKeys()

    private func signer(
        _ configuration: TokenConfiguration? = nil, keys: TestKeys? = nil
    ) async throws -> TokenSigner {
        TokenSigner(try configuration ?? TokenConfiguration(secret: secret), (keys ?? self.keys).ring())
    }

    @Test func aTokenSpeaksForItsUserUntilItExpires() async throws {
        let signer = try await signer()
        let token = try await signer.sign(user, session: session, now: now)
        #expect(
            try await signer.verify(token.token, now: now) == .init(userID: user, sessionID: session, generation: 0))
        let tolerance = TimeInterval(TokenConfiguration.clockToleranceSeconds)
        let almost = token.expiresAt.addingTimeInterval(tolerance - 1)
        #expect(try await signer.verify(token.token, now: almost).userID == user)
        await #expect(throws: AuthenticationError.expiredToken(expiredAt: Int64(token.expiresAt.timeIntervalSince1970)))
        {
            try await signer.verify(token.token, now: token.expiresAt.addingTimeInterval(tolerance))
        }
        #expect(token.expiresAt.timeIntervalSince(now) == TimeInterval(TokenConfiguration.defaultLifetimeSeconds))
    }

    @Test("a verified signature counts for exactly this text, until the token expires and while its key is valid")
    func verifiedTokens() async throws {
        let signer = try await signer()
        let token = try await signer.sign(user, session: session, now: now)
        for _ in 0..<3 { #expect(try await signer.verify(token.token, now: now).userID == user) }
        await #expect(throws: AuthenticationError.self) { try await signer.verify(token.token + "A", now: now) }
        await #expect(throws: AuthenticationError.self) {
            try await signer.verify(String(token.token.dropLast()), now: now)
        }
        await #expect(throws: AuthenticationError.expiredToken(expiredAt: Int64(token.expiresAt.timeIntervalSince1970)))
        {
            try await signer.verify(token.token, now: token.expiresAt.addingTimeInterval(3_600))
        }
        await #expect(throws: AuthenticationError.self) {
            try await signer.verify(token.token, now: now.addingTimeInterval(-3_600))
        }
    }

    @Test("the number of remembered tokens is bounded; those of former keys are dropped first")
    func rememberedTokens() {
        let (former, keys) = (JWTKeyCollection(), JWTKeyCollection())
        func entry(_ keys: JWTKeyCollection, expires: Int64) -> VerifiedTokens.Entry {
            VerifiedTokens.Entry(
                keyID: "k", keys: keys,
                claims: TokenClaims(iss: "", aud: "", sub: "", iat: 0, exp: expires, gen: nil, sid: nil))
        }
        func hash(_ number: Int) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }
        var tokens = VerifiedTokens()
        for number in 0..<VerifiedTokens.maximumCount {
            tokens.insert(entry(number % 2 == 0 ? keys : former, expires: 200), hash(number), now: 100)
        }
        #expect(tokens.count == VerifiedTokens.maximumCount)
        tokens.insert(entry(keys, expires: 200), hash(-1), now: 100)
        #expect(tokens.count == VerifiedTokens.maximumCount / 2 + 1)
        #expect(tokens.entry(hash(0)) != nil && tokens.entry(hash(1)) == nil && tokens.entry(hash(-1)) != nil)
        for number in 0..<VerifiedTokens.maximumCount {
            tokens.insert(entry(keys, expires: 200), hash(number), now: 100)
            #expect(tokens.count <= VerifiedTokens.maximumCount)
        }
    }

    @Test func aTokenThatWasChangedIsNotValid() async throws {
        let signer = try await signer()
        let token = try await signer.sign(user, session: session, now: now).token
        for position in stride(from: 0, to: token.count, by: 7) {
            var characters = Array(token)
            characters[position] = characters[position] == "A" ? "B" : "A"
            let changed = String(characters)
            await #expect(throws: AuthenticationError.self) { try await signer.verify(changed, now: now) }
        }
    }

    @Test(arguments: ["", ".", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", "Bearer x", String(repeating: "a", count: 5_000)])
    func textThatIsNotATokenIsRefused(_ text: String) async throws {
        let signer = try await signer()
        await #expect {
            try await signer.verify(text, now: now)
        } throws: { error in
            if case .invalidToken = error as? AuthenticationError { true } else { false }
        }
    }

    @Test func anUnsignedTokenIsRefused() async throws {
        func part(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacing("=", with: "").replacing("+", with: "-").replacing(
                "/", with: "_")
        }
        let claims = #"{"iss":"tombolo","aud":"tombolo-services","sub":"\#(user)","iat":1,"exp":9999999999}"#
        let token = "\(part(#"{"alg":"none","typ":"JWT"}"#)).\(part(claims))."
        let signer = try await signer()
        await #expect(throws: AuthenticationError.self) { try await signer.verify(token, now: now) }
    }

    @Test("a token that names another algorithm than its key's is refused, however it is signed")
    func algorithmsArePinned() async throws {
        let signer = try await signer()
        let claims = claims([:])
        #expect(try await signer.verify(keys.token(claims), now: now).userID == user)
        let forgeries = [
            // The public key is used as a shared secret.
            try keys.token(claims, header: #"{"alg":"HS256","kid":"\#(keys.id)"}"#, secret: keys.publicPEM),
            try keys.token(claims, header: #"{"alg":"HS256","kid":"\#(keys.id)"}"#, secret: secret),
            try keys.token(claims, header: #"{"alg":"ES256","kid":"\#(keys.id)"}"#, secret: keys.publicPEM),
            try keys.token(claims, header: #"{"alg":"none","kid":"\#(keys.id)"}"#),
            try keys.token(claims, header: #"{"alg":"None","kid":"\#(keys.id)"}"#),
            try keys.token(claims, header: #"{"alg":"RS256","kid":"\#(keys.id)"}"#),
            try keys.token(claims, header: #"{"alg":"ES384","kid":"\#(keys.id)"}"#),
            try keys.token(claims, header: #"{"alg":"es256","kid":"\#(keys.id)"}"#),
            // These name no key, another key, or bring their own.
            try keys.token(claims, header: #"{"alg":"ES256"}"#),
            try keys.token(claims, header: #"{"alg":"ES256","kid":"another"}"#),
            try keys.token(claims, header: #"{"alg":"ES256","kid":""}"#),
            try keys.token(claims, header: #"{"alg":"ES256","kid":["\#(keys.id)"]}"#),
            try keys.token(claims, header: #"{"alg":"ES256","kid":"\#(keys.id)","crit":["exp"]}"#),
            try keys.token(claims, header: #"{"kid":"\#(keys.id)"}"#),
            String(try keys.token(claims).split(separator: ".").dropLast().joined(separator: ".")) + ".",
        ]
        for token in forgeries {
            await #expect {
                try await signer.verify(token, now: now)
            } throws: { error in
                if case .invalidToken = error as? AuthenticationError { true } else { false }
            }
        }
    }

    @Test func tokensOfOthersAreRefused() async throws {
        let others = [
            (try TokenConfiguration(secret: secret), TestKeys()),
            (try TokenConfiguration(secret: secret), TestKeys(id: keys.id)),
            (try TokenConfiguration(secret: secret, issuer: "another"), keys),
            (try TokenConfiguration(secret: secret, audience: "another"), keys),
        ]
        let signer = try await signer()
        for (other, keys) in others {
            let token = try await self.signer(other, keys: keys).sign(user, session: session, now: now).token
            await #expect {
                try await signer.verify(token, now: now)
            } throws: { error in
                if case .invalidToken = error as? AuthenticationError { true } else { false }
            }
        }
    }

    @Test func aTokenFromTheFutureIsRefused() async throws {
        let signer = try await signer()
        let token = try await signer.sign(user, session: session, now: now.addingTimeInterval(3_600)).token
        await #expect(throws: AuthenticationError.self) { try await signer.verify(token, now: now) }
    }

    private func sign(_ claims: String) throws -> String { try keys.token(claims) }

    private func claims(_ changes: [String: String?]) -> String {
        var all: [String: String?] = [
            "iss": #""tombolo""#, "aud": #""tombolo-services""#, "sub": "\"\(user)\"", "iat": "1799999999",
            "exp": "1800000600", "sid": "\"\(session)\"",
        ]
        for (name, value) in changes { all[name] = value }
        let members = all.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return "{\(members.joined(separator: ","))}"
    }

    @Test("a token whose times are out of range is refused", arguments: ["exp", "iat", "nbf"])
    func impossibleTimesAreRefused(_ name: String) async throws {
        let signer = try await signer()
        #expect(try await signer.verify(sign(claims([:])), now: now).userID == user)
        for value in [
            Int64.max, .max - 1, .max - TokenConfiguration.clockToleranceSeconds, .min, .min + 1, -1,
            TokenConfiguration.validTimes.upperBound + 1,
        ] {
            await #expect {
                try await signer.verify(sign(claims([name: String(value)])), now: now)
            } throws: { error in
                guard case .invalidToken(let reason) = error as? AuthenticationError else { return false }
                return reason.contains("'\(name)'")
            }
        }
        for value in ["1e300", "-1e300", "1.5", "null", #""1800000000""#, "99999999999999999999999", "true", "[]"] {
            guard name != "nbf" || value != "null" else { continue }
            await #expect(throws: AuthenticationError.self) {
                try await signer.verify(sign(claims([name: value])), now: now)
            }
        }
    }

    @Test("a token that isn't valid yet is refused until it is")
    func aTokenOfTheFutureWaits() async throws {
        let signer = try await signer()
        let token = try sign(claims(["nbf": "1800000300"]))
        await #expect(throws: AuthenticationError.invalidToken(reason: "It is not valid yet.")) {
            try await signer.verify(token, now: now)
        }
        #expect(try await signer.verify(token, now: now.addingTimeInterval(300)).userID == user)
    }

    @Test("whatever a signed token claims, it is accepted or refused, and nothing traps")
    func strangeClaimsAreRefused() async throws {
        let signer = try await signer()
        var generator = SystemRandomNumberGenerator()
        let values = [
            "0", "-1", "1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1800000600",
            "253402300799", "1e18", "1e308", "0.1", "null", "true", "{}", "[]", #""""#, #""tombolo""#,
            #""tombolo-services""#, "\"\(user)\"", #""\u0000""#, #"["tombolo-services"]"#,
            "\"\(String(repeating: "f", count: 24))\"",
        ]
        for _ in 0..<2_000 {
            var changes: [String: String?] = [:]
            for name in ["iss", "aud", "sub", "iat", "exp", "nbf", "gen", "sid", "extra"]
            where Bool.random(using: &generator) {
                changes.updateValue(
                    Int.random(in: 0..<8) == 0 ? nil : values.randomElement(using: &generator), forKey: name)
            }
            let text = claims(changes)
            do {
                let content = try await signer.verify(sign(text), now: now)
                let isUsers = content.userID == user || content.userID.stringValue == String(repeating: "f", count: 24)
                #expect(isUsers, "\(text)")
            } catch {
                #expect(error is AuthenticationError)
            }
        }
    }

    @Test func aShortSecretIsRefusedWithWhatToDo() {
        let error = #expect(throws: AuthenticationError.self) { try TokenConfiguration(secret: "too short") }
        #expect(error == .weakSecret(byteCount: 9))
        #expect(error?.description.contains("openssl rand -hex 32") == true)
    }

    @Test func secretsAndTokensAreNotInDescriptions() async throws {
        let configuration = try TokenConfiguration(secret: secret)
        let token = try await signer(configuration).sign(user, session: session, now: now)
        let hash = PasswordHash(parameters: .weakForTests, salt: [222, 173], key: [190, 239])
        for value in [configuration, token, hash] as [Any] {
            var text = "\(value)\(String(reflecting: value))"
            dump(value, to: &text)
            #expect(!text.contains(secret) && !text.contains(token.token) && !text.contains("222"), "\(text)")
        }
    }
}
