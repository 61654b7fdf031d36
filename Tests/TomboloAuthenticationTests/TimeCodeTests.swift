import Testing

@testable import TomboloAuthentication

@Suite struct TimeCodeTests {
    @Test(
        "codes match RFC 6238, appendix B",
        arguments: [
            (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"), (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
        ] as [(Int64, String)])
    func vectors(seconds: Int64, code: String) {
        let secret = TimeCode(secret: Array("12345678901234567890".utf8))
        #expect(secret.code(step: TimeCode.step(at: seconds), digitCount: 8) == code)
        #expect(secret.code(step: TimeCode.step(at: seconds)) == code.suffix(6))
    }

    @Test(
        "base32 follows RFC 4648, without padding",
        arguments: [
            ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ])
    func base32(text: String, encoded: String) {
        #expect(Base32.text(Array(text.utf8)) == encoded)
    }

    @Test("a clock may be one step fast or slow, but no more")
    func drift() {
        let secret = TimeCode(secret: .random(count: TimeCode.secretByteCount))
        for offset: Int64 in -4...4 {
            let code = secret.code(step: 1_000 + offset)
            let found = secret.step(of: code, at: 1_000 * TimeCode.stepSeconds + 29)
            #expect(found == (abs(offset) <= 1 ? 1_000 + offset : nil) || found.map { secret.code(step: $0) } == code)
        }
        for wrong in ["", "12345", "1234567", "abcdef", "１２３４５６"] { #expect(secret.step(of: wrong, at: 30_000) == nil) }
    }

    @Test("the URI for an authenticator app escapes its parts, and nothing prints the secret")
    func uri() {
        let secret = TimeCode(secret: Array("12345678901234567890".utf8))
        #expect(
            secret.uri(issuer: "Tombolo", account: "ann+x@example.org")
                == "otpauth://totp/Tombolo:ann%2Bx%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Tombolo"
        )
        let pending = SecondFactor.Pending(secret: "GEZD", uri: "otpauth://GEZD")
        for text in ["\(secret)", String(reflecting: secret), "\(pending)", String(reflecting: pending)] {
            #expect(!text.contains("GEZD") && !text.contains("49, 50"), "\(text)")
        }
        var dumped = ""
        dump(secret, to: &dumped)
        dump(pending, to: &dumped)
        #expect(!dumped.contains("GEZD") && !dumped.contains("49"))
    }

    @Test("recovery codes are accepted with and without separators")
    func recoveryCodes() {
        let codes = (0..<100).map { _ in RecoveryCode.generate() }
        #expect(Set(codes).count == 100)
        for code in codes {
            #expect(code.wholeMatch(of: /[a-z2-7]{4}(-[a-z2-7]{4}){3}/) != nil, "\(code)")
            #expect(RecoveryCode.normalized(" \(code.uppercased()) ") == code.replacing("-", with: ""))
        }
    }
}
