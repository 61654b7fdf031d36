public import Foundation

/// The carrier of mails. Servers read it from `TOMBOLO_MAIL`:
///
///     folder:/path               a file for each mail, for development
///     https://example.org/mail   POST with the mail as JSON; any status from 200 to 299 accepts it
///     command:/usr/sbin/sendmail -t -i    the mail with its headers on standard input; exit code 0 accepts it
public enum MailHook: Sendable {
    case folder(URL)
    /// - `secret` is sent with each request as `Authorization: Bearer`.
    case http(url: String, secret: String?)
    /// A program and its arguments, separated by blanks; no shell is involved.
    case command([String])

    public static let variable = "TOMBOLO_MAIL"
    public static let secretVariable = "TOMBOLO_MAIL_SECRET"

    /// - Returns: nil for an empty text: no mail is sent then.
    /// - Throws: ``AuthenticationError/invalidSettings(reason:)``.
    public init?(_ text: String, secret: String? = nil) throws(AuthenticationError) {
        guard !text.isEmpty else { return nil }
        if text.hasPrefix("folder:/") {
            self = .folder(URL(fileURLWithPath: String(text.dropFirst("folder:".count))))
        } else if text.hasPrefix("command:/") {
            self = .command(text.dropFirst("command:".count).split(separator: " ").map(String.init))
        } else if OutgoingRequest.isAllowed(text) {
            self = .http(url: text, secret: secret)
        } else {
            throw .invalidSettings(
                reason: "\(Self.variable) must be folder:/PATH, command:/PROGRAM or an https:// address.")
        }
    }

    /// Delivers a mail.
    /// - Throws: ``MailDeliveryError`` if it wasn't accepted; trying again may help.
    func deliver(_ mail: Mail) async throws {
        switch self {
        case .folder(let folder): try Self.write(mail, to: folder)
        case .http(let url, let secret):
            let request = OutgoingRequest(
                url: url, body: Array(try JSONEncoder().encode(mail)), bearer: secret, timeoutSeconds: 10,
                maximumByteCount: 64 << 10)
            let answer: OutgoingRequest.Answer
            do {
                answer = try await request.answer()
            } catch let failure as OutgoingFailure {
                throw MailDeliveryError(failure)
            }
            guard (200..<300).contains(answer.status) else { throw MailDeliveryError.refused(status: answer.status) }
        case .command(let words): try await Self.run(words, mail)
        }
    }

    /// Writes a file that only the server's user can read, since it contains a token.
    private static func write(_ mail: Mail, to folder: URL) throws {
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // Names sort by time, even for mails within the same millisecond.
        let name = "\(Date().microseconds)-\(mail.purpose.rawValue)-\(UUID().uuidString).txt"
        guard let file = privateFile(folder.appending(path: name)),
            (try? file.write(contentsOf: Data(message(mail).utf8))) != nil
        else { throw MailDeliveryError.unwritable(path: folder.path(percentEncoded: false)) }
    }

    /// The mail in the form of RFC 5322. Addresses were checked for control characters when the account was made.
    static func message(_ mail: Mail) -> String {
        """
        To: \(mail.to)
        Subject: \(EncodedWords.text(mail.subject))
        MIME-Version: 1.0
        Content-Language: \(mail.language)
        Content-Type: text/plain; charset=utf-8
        Content-Transfer-Encoding: 8bit

        \(mail.text)

        """
    }
}
