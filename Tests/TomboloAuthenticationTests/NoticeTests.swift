import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloModel

@testable import TomboloAuthentication

/// The changes that an account's owner is told about by mail.
@Suite struct NoticeTests {
    /// 2026-05-14 09:30:05 UTC
    private static let now = Date(timeIntervalSince1970: 1_778_751_005)

    private static func change(
        _ mail: MailPlace, from current: String, to password: String
    ) async throws {
        let login = try await mail.server.login(email: AccountPlace.email, password: current)
        _ = try await mail.server.changePassword(
            of: Caller(userID: login.userID, sessionID: login.sessionID), from: current, to: password)
    }

    @Test("a mail says what was done, when, and what to do if it was someone else, and contains no token")
    func texts() {
        for (notice, subject) in [
            (AccountNotice.passwordChanged, "Your password was changed"),
            (.secondFactorSetUp, "A second factor was set up"),
            (.secondFactorRemoved, "Your second factor was removed"),
        ] {
            let mail = notice.mail(to: AccountPlace.email, at: Self.now)
            #expect(mail.subject == subject && mail.to == AccountPlace.email)
            #expect(mail.text.contains("on 2026-05-14 09:30:05 UTC"), "\(mail.text)")
            #expect(mail.text.contains("the server's operator") && mail.text.contains("your account"))
            #expect(mail.token == nil && mail.tokenID == nil && mail.link == nil)
        }
    }

    @Test("the owner is told of a password that is changed or replaced by a mailed token, but not of a refused change")
    func passwords() async throws {
        try await MailPlace.with { mail in
            try await mail.place.register()
            await #expect(throws: AuthenticationError.wrongCredentials) {
                let login = try await mail.place.login()
                _ = try await mail.server.changePassword(
                    of: Caller(userID: login.userID, sessionID: login.sessionID), from: "wrong password",
                    to: "battery staple")
            }
            try await Self.change(mail, from: AccountPlace.password, to: "battery staple")
            let first = try await mail.folder.mails(1)[0]
            #expect(first.contains("To: ann@example.org") && first.contains("Subject: Your password was changed"))
            try await mail.server.sendReset(email: AccountPlace.email)
            let (token, id) = try mail.token(in: try await mail.folder.mails(2)[1])
            try await mail.server.reset(password: "something else", token: token, tokenID: id)
            #expect(try await mail.folder.mails(3)[2].contains("Subject: Your password was changed"))
        }
    }

    @Test("the owner is told of a removed second factor, but not of one that was still being set up")
    func secondFactor() async throws {
        try await MailPlace.with { mail in
            let user = try await mail.place.register()
            try await mail.server.beginSecondFactor(of: user)
            try await mail.server.removeSecondFactor(of: user)
            try await mail.place.addSecondFactor(to: user, recoveryCodes: [])
            try await mail.server.removeSecondFactor(of: user)
            // Mails are sent one at a time, in the order in which they were requested.
            try await mail.server.sendReset(email: AccountPlace.email)
            let mails = try await mail.folder.mails(2)
            #expect(mails.count == 2)
            #expect(mails.count { $0.contains("Subject: Your second factor was removed") } == 1, "\(mails)")
        }
    }

    @Test("strangers who request mails don't block notices, and notices don't block other mails")
    func limits() async throws {
        try await MailPlace.with { mail in
            try await mail.place.register()
            for _ in 0..<ActionLimiter.maximumMails { try await mail.server.sendReset(email: AccountPlace.email) }
            try await Self.change(mail, from: AccountPlace.password, to: "battery staple 0")
            let mails = try await mail.folder.mails(ActionLimiter.maximumMails + 1)
            #expect(mails.count { $0.contains("Your password was changed") } == 1)
            // A flood of notices is cut off, but the password changes still succeed.
            for number in 0..<ActionLimiter.maximumMails {
                try await Self.change(mail, from: "battery staple \(number)", to: "battery staple \(number + 1)")
            }
            let other = try await mail.place.authenticator.register(
                email: "bob@example.org", password: AccountPlace.password, displayName: "Bob")
            try await mail.place.addSecondFactor(to: other, recoveryCodes: [])
            try await mail.server.removeSecondFactor(of: other)
            let all = try await mail.folder.mails(2 * ActionLimiter.maximumMails + 1)
            #expect(all.count { $0.contains("Your password was changed") } == ActionLimiter.maximumMails)
            #expect(all.count { $0.contains("To: bob@example.org") } == 1)
        }
    }

    @Test("without an address or without mail, the change succeeds without a notice")
    func nobody() async throws {
        try await MailPlace.with { mail in
            try await mail.place.switchOn(Provider.anonymous)
            let anonymous = try await mail.place.authenticator.login(.anonymous)
            try await mail.place.addSecondFactor(to: anonymous.userID, recoveryCodes: [])
            try await mail.server.removeSecondFactor(of: anonymous.userID)
            let user = try await mail.place.register()
            try await mail.place.addSecondFactor(to: user, recoveryCodes: [])
            // This server has no mail room.
            try await mail.place.authenticator.removeSecondFactor(of: user)
            try await mail.server.sendReset(email: AccountPlace.email)
            #expect(try await mail.folder.mails(1).allSatisfy { $0.contains("Set a new password") })
        }
    }
}
