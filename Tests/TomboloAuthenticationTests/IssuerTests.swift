import Crypto
import Foundation
import Testing
import TomboloModel

@testable import TomboloAuthentication

/// An outside issuer: its keys, the key set that it publishes, and its tokens.
private struct Issuer: Sendable {
    let id: String
    let key = P256.Signing.PrivateKey()

    init(id: String = "issuer-key-1") { self.id = id }

    var jwk: String {
        let point = Array(key.publicKey.x963Representation.dropFirst())
        return #"{"kty":"EC","crv":"P-256","use":"sig","alg":"ES256","kid":"\#(id)","#
            + #""x":"\#(Array(point.prefix(32)).base64URL)","y":"\#(Array(point.suffix(32)).base64URL)"}"#
    }

    func token(_ claims: String, header: String? = nil) throws -> String {
        let head = header ?? #"{"alg":"ES256","kid":"\#(id)"}"#
        let text = "\(Array(head.utf8).base64URL).\(Array(claims.utf8).base64URL)"
        return "\(text).\(Array(try key.signature(for: Data(text.utf8)).rawRepresentation).base64URL)"
    }
}

@Suite struct IssuerTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let issuer = Issuer()

    private let settings = IssuerSettings(
        jwksURL: "https://example.org/keys", issuers: ["https://school.example"], audiences: ["our-app", "other-app"],
        algorithms: ["ES256", "RS256"], identifier: nil, name: nil, profile: ["pictureURL": "picture"])

    private func keys(_ sets: String..., clock: Counter = Counter(), fetches: Counter = Counter()) -> IssuerKeys {
        IssuerKeys(now: { Double(clock.value) }) {
            fetches.add()
            let set = sets[min(fetches.value, sets.count) - 1]
            return Array(#"{"keys":[\#(set)]}"#.utf8)
        }
    }

    private func claims(_ changes: [String: String?] = [:]) -> String {
        var all: [String: String?] = [
            "iss": #""https://school.example""#, "aud": #""our-app""#, "sub": #""pupil-7""#, "exp": "1800000600",
            "iat": "1799999999", "name": #""Ann""#, "picture": #""https://school.example/ann.png""#,
        ]
        for (name, value) in changes { all.updateValue(value, forKey: name) }
        return "{"
            + all.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
            .joined(separator: ",") + "}"
    }

    @Test("a good token of an outside issuer says whom it identifies")
    func goodTokens() async throws {
        for audience in [#""our-app""#, #"["someone","other-app"]"#] {
            let token = try issuer.token(claims(["aud": audience]))
            let checked = try await IssuerToken(token, settings, keys(issuer.jwk), now: now)
            #expect(checked.identifier == "pupil-7" && checked.name == "Ann")
            #expect(checked.profile == ["pictureURL": "https://school.example/ann.png"])
        }
    }

    @Test("a token of the wrong issuer, audience, time, algorithm or key is refused")
    func badTokens() async throws {
        let other = Issuer(id: issuer.id)
        let secret = SymmetricKey(data: Data(issuer.jwk.utf8))
        let confused = { (header: String) -> String in
            let text = "\(Array(header.utf8).base64URL).\(Array(claims().utf8).base64URL)"
            let mac = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: secret)
            return "\(text).\(Array(mac).base64URL)"
        }
        let bad = [
            try issuer.token(claims(["iss": #""https://evil.example""#])), try issuer.token(claims(["iss": nil])),
            try issuer.token(claims(["aud": #""their-app""#])), try issuer.token(claims(["aud": nil])),
            try issuer.token(claims(["aud": "[]"])), try issuer.token(claims(["aud": #"{"our-app":1}"#])),
            try issuer.token(claims(["exp": "1799999000"])), try issuer.token(claims(["exp": nil])),
            try issuer.token(claims(["exp": #""1900000000""#])), try issuer.token(claims(["nbf": "1800000600"])),
            try issuer.token(claims(["iat": "1800000600"])), try issuer.token(claims(["sub": nil])),
            try issuer.token(claims(["sub": #""""#])), try issuer.token(claims(["sub": #""a\u0000b""#])),
            try issuer.token(claims(["sub": "\"\(String(repeating: "x", count: 600))\""])),
            try issuer.token(claims(["sub": "[1]"])), try issuer.token("[]"), try issuer.token("nonsense"),
            try other.token(claims()), try issuer.token(claims(), header: #"{"alg":"none","kid":"issuer-key-1"}"#),
            try issuer.token(claims(), header: #"{"alg":"RS256","kid":"issuer-key-1"}"#),
            try issuer.token(claims(), header: #"{"alg":"ES384","kid":"issuer-key-1"}"#),
            try issuer.token(claims(), header: #"{"alg":"ES256"}"#),
            try issuer.token(claims(), header: #"{"alg":"ES256","kid":"unknown"}"#),
            confused(#"{"alg":"HS256","kid":"issuer-key-1"}"#), confused(#"{"alg":"ES256","kid":"issuer-key-1"}"#),
            "", "a.b.c", String(repeating: "x", count: 100_000),
        ]
        for token in bad {
            await #expect(throws: AuthenticationError.wrongCredentials, "\(token.prefix(300))") {
                try await IssuerToken(token, settings, keys(issuer.jwk), now: now)
            }
        }
    }

    @Test("a key set's shared secrets and keys for other purposes are skipped")
    func keySetsAreFiltered() async throws {
        let odd = [
            #"{"kty":"oct","kid":"shared","k":"c2VjcmV0","alg":"HS256"}"#, #"{"kty":"EC","kid":"broken"}"#, "{}",
            issuer.jwk.replacing(#""use":"sig""#, with: #""use":"enc""#).replacing("issuer-key-1", with: "enc"),
        ]
        let found = try await IssuerKeys.parse(
            Array(#"{"keys":[\#((odd + [issuer.jwk]).joined(separator: ","))]}"#.utf8))
        #expect(Set(found.keys) == ["issuer-key-1"])
        let many = Array(repeating: issuer.jwk, count: IssuerKeys.maximumKeyCount + 1).joined(separator: ",")
        for bad in [#"{"keys":[\#(many)]}"#, "[]", "", #"{"keys":{}}"#, String(repeating: "x", count: 300 << 10)] {
            await #expect(throws: AuthenticationError.unreachable) { try await IssuerKeys.parse(Array(bad.utf8)) }
        }
    }

    @Test("keys that change under load are fetched at intervals, not once per token")
    func rotation() async throws {
        let second = Issuer(id: "issuer-key-2")
        let (clock, fetches) = (Counter(), Counter())
        let keys = keys(issuer.jwk, second.jwk, clock: clock, fetches: fetches)
        let (old, new) = (try issuer.token(claims()), try second.token(claims()))
        _ = try await IssuerToken(old, settings, keys, now: now)
        #expect(fetches.value == 1)
        // New and forged tokens arrive before the keys may be fetched again.
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                let token =
                    number.isMultiple(of: 2)
                    ? new : (try? issuer.token(claims(), header: #"{"alg":"ES256","kid":"\#(number)"}"#)) ?? ""
                group.addTask {
                    await #expect(throws: AuthenticationError.wrongCredentials) {
                        try await IssuerToken(token, settings, keys, now: now)
                    }
                }
            }
        }
        #expect(fetches.value == 1)
        clock.set(Int(IssuerKeys.refetchSeconds))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { _ = try await IssuerToken(new, settings, keys, now: now) } }
            try await group.waitForAll()
        }
        #expect(fetches.value == 2)
        // The issuer has withdrawn the old key.
        await #expect(throws: AuthenticationError.wrongCredentials) {
            try await IssuerToken(old, settings, keys, now: now)
        }
    }

    @Test("while the issuer doesn't answer, known keys stay valid for a day, and it isn't asked for every token")
    func outages() async throws {
        let (clock, fetches) = (Counter(), Counter())
        let set = Array(#"{"keys":[\#(issuer.jwk)]}"#.utf8)
        let keys = IssuerKeys(now: { Double(clock.value) }) {
            fetches.add()
            guard fetches.value == 1 else { throw AuthenticationError.unreachable }
            return set
        }
        let token = try issuer.token(claims())
        _ = try await IssuerToken(token, settings, keys, now: now)
        clock.set(Int(IssuerKeys.lifetimeSeconds))
        for _ in 0..<50 { _ = try await IssuerToken(token, settings, keys, now: now) }
        #expect(fetches.value == 2)
        clock.set(Int(IssuerKeys.maximumAgeSeconds) + 1)
        await #expect(throws: AuthenticationError.unreachable) {
            try await IssuerToken(token, settings, keys, now: now)
        }
    }
}
