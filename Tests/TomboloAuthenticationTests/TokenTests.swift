import Foundation
import Testing
import TomboloModel

@testable import TomboloAuthentication

@Suite struct TokenTests {
    private let secret = String(repeating: "s", count: TokenConfiguration.minimumSecretByteCount)
    private let user = ObjectId(high: 5, low: 6)
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func signer(_ configuration: TokenConfiguration? = nil) async throws -> TokenSigner {
        await TokenSigner(try configuration ?? TokenConfiguration(secret: secret))
    }

    @Test func aTokenSpeaksForItsUserUntilItExpires() async throws {
        let signer = try await signer()
        let token = try await signer.sign(user, now: now)
        #expect(try await signer.verify(token.token, now: now) == user)
        let tolerance = TimeInterval(TokenConfiguration.clockToleranceSeconds)
        #expect(try await signer.verify(token.token, now: token.expiresAt.addingTimeInterval(tolerance - 1)) == user)
        await #expect(throws: AuthenticationError.expiredToken(expiredAt: Int64(token.expiresAt.timeIntervalSince1970)))
        {
            try await signer.verify(token.token, now: token.expiresAt.addingTimeInterval(tolerance))
        }
        #expect(token.expiresAt.timeIntervalSince(now) == TimeInterval(TokenConfiguration.defaultLifetimeSeconds))
    }

    @Test func aTokenThatWasChangedIsNotValid() async throws {
        let signer = try await signer()
        let token = try await signer.sign(user, now: now).token
        for position in stride(from: 0, to: token.count, by: 7) {
            var characters = Array(token)
            characters[position] = characters[position] == "A" ? "B" : "A"
            let changed = String(characters)
            await #expect(throws: AuthenticationError.self) { try await signer.verify(changed, now: now) }
        }
    }

    @Test(arguments: ["", ".", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", "Bearer x", String(repeating: "a", count: 5_000)])
    func whatIsNoTokenIsRefused(_ text: String) async throws {
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

    @Test func tokensOfOthersAreRefused() async throws {
        let others = [
            try TokenConfiguration(secret: String(repeating: "t", count: 32)),
            try TokenConfiguration(secret: secret, issuer: "another"),
            try TokenConfiguration(secret: secret, audience: "another"),
        ]
        let signer = try await signer()
        for other in others {
            let token = try await self.signer(other).sign(user, now: now).token
            await #expect {
                try await signer.verify(token, now: now)
            } throws: { error in
                if case .invalidToken = error as? AuthenticationError { true } else { false }
            }
        }
    }

    @Test func aTokenFromTheFutureIsRefused() async throws {
        let signer = try await signer()
        let token = try await signer.sign(user, now: now.addingTimeInterval(3_600)).token
        await #expect(throws: AuthenticationError.self) { try await signer.verify(token, now: now) }
    }

    @Test func aShortSecretIsRefusedWithWhatToDo() {
        let error = #expect(throws: AuthenticationError.self) { try TokenConfiguration(secret: "too short") }
        #expect(error == .weakSecret(byteCount: 9))
        #expect(error?.description.contains("openssl rand -hex 32") == true)
    }

    @Test func secretsAndTokensAreNotInDescriptions() async throws {
        let configuration = try TokenConfiguration(secret: secret)
        let token = try await signer(configuration).sign(user, now: now)
        let hash = PasswordHash(parameters: .weakForTests, salt: [222, 173], key: [190, 239])
        for value in [configuration, token, hash] as [Any] {
            var text = "\(value)\(String(reflecting: value))"
            dump(value, to: &text)
            #expect(!text.contains(secret) && !text.contains(token.token) && !text.contains("222"), "\(text)")
        }
    }
}
