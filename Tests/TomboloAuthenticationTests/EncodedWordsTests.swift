import Foundation
import Testing
import TomboloLocalization

@testable import TomboloAuthentication

/// Subjects in the headers of mails.
@Suite struct EncodedWordsTests {
    /// The text a mail program shows.
    private static func decoded(_ header: String) -> String {
        // Spaces between encoded words aren't part of the text (RFC 2047, section 6.2).
        let words = header.replacing("?=\n =?", with: "?==?").matches(of: /=\?utf-8\?Q\?([^?]*)\?=/)
        var bytes: [UInt8] = []
        for word in words {
            var rest = word.1.utf8[...]
            while let first = rest.popFirst() {
                switch first {
                case UInt8(ascii: "_"): bytes.append(UInt8(ascii: " "))
                case UInt8(ascii: "="):
                    bytes.append(UInt8(String(Substring(rest.prefix(2))), radix: 16) ?? 0)
                    rest = rest.dropFirst(2)
                default: bytes.append(first)
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("plain text stays as it is")
    func plain() { #expect(EncodedWords.text("You're invited") == "You're invited") }

    @Test(
        "other text is encoded in ASCII words on lines that are short enough, and decodes to the same text",
        arguments: [
            "Bestätigen Sie Ihre E-Mail-Adresse", "¿Olvidó su contraseña?", "أكّد عنوان بريدك الإلكتروني",
            "Une = deux_trois ? é", "a\nTo: é@example.org", "\u{1}", String(repeating: "🙂", count: 40),
        ])
    func other(_ text: String) {
        let header = "Subject: \(EncodedWords.text(text))"
        #expect(header.utf8.allSatisfy { (0x20...0x7e).contains($0) || $0 == 0x0a })
        for line in header.split(separator: "\n") { #expect(line.utf8.count <= 76, "\(line)") }
        // Continuation lines begin with a space, so no text can start a header field.
        #expect(header.split(separator: "\n").dropFirst().allSatisfy { $0.hasPrefix(" =?utf-8?Q?") })
        #expect(Self.decoded(header) == text)
    }

    @Test("a message declares its language")
    func message() throws {
        let german = try #require(MailTranslations.builtIn["de"])
        let message = MessageCatalogue.$current.withValue(german) {
            MailHook.message(.confirm("ann@example.org", MailTokens.Secret(), link: nil))
        }
        let subject = "Subject: =?utf-8?Q?Best=C3=A4tigen_Sie_Ihre_E=2DMail=2DAdresse?=\n"
        #expect(message.hasPrefix("To: ann@example.org\n\(subject)"), "\(message)")
        #expect(message.contains("\nContent-Language: de\n") && message.contains("innerhalb von 30 Minuten"))
    }
}
