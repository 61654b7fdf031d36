import Foundation
import Logging
import Synchronization
import TestSupport
import Testing
import TomboloHTTP
import TomboloLocalization
import TomboloModel

@testable import TomboloAuthentication

@Suite struct MailLanguageTests {
    /// 2026-05-14 09:30:05 UTC
    private static let now = Date(timeIntervalSince1970: 1_778_751_005)
    private static let email = AccountPlace.email
    private static let secret = MailTokens.Secret()
    private static let link = "https://example.org/x"

    private static func invitation(role: String = "moderator") -> Invitation {
        Invitation(
            id: .generate(), email: email, className: "Grant", role: role, scope: nil, invitedBy: .generate(),
            createdAt: now, expiresAt: now, sentAt: now, sendCount: 1, isMailed: true, acceptedAt: nil,
            acceptedBy: nil, revokedAt: nil)
    }

    /// Every mail, with its subjects in English, German, French and Spanish, and excerpts of its German text.
    private static let mails: [(make: @Sendable () -> Mail, subjects: [String], german: [String])] = [
        (
            { .confirm(email, secret, link: link) },
            [
                "Confirm your e-mail address", "Bestätigen Sie Ihre E-Mail-Adresse", "Confirmez votre adresse e-mail",
                "Confirme su dirección de correo",
            ], ["innerhalb von 30 Minuten:\n\n\(link)?token=", "\n\nWenn Sie das nicht waren"]
        ),
        (
            { .reset(email, secret, link: nil) },
            [
                "Set a new password", "Neues Passwort festlegen", "Définir un nouveau mot de passe",
                "Establecer una nueva contraseña",
            ], ["innerhalb von 30 Minuten", "\n\nToken \(secret.text)\nToken-ID \(secret.id)\n\n"]
        ),
        (
            { .alreadyRegistered(email) },
            [
                "You already have an account", "Sie haben schon ein Konto", "Vous avez déjà un compte",
                "Ya tiene una cuenta",
            ], ["fordern Sie ein neues Passwort an"]
        ),
        (
            { .welcome(email, secret, link: link) },
            ["An account for you", "Ein Konto für Sie", "Un compte pour vous", "Una cuenta para usted"],
            ["innerhalb von 7 Tagen", link, "Ohne Passwort"]
        ),
        (
            { .passwordLink(email, secret, link: link) },
            [
                "Set a new password", "Neues Passwort festlegen", "Définir un nouveau mot de passe",
                "Establecer una nueva contraseña",
            ], ["Er ist 30 Minuten gültig", link]
        ),
        (
            { .test(email) }, ["Test mail", "Testmail", "E-mail de test", "Correo de prueba"],
            ["Sie müssen nichts tun"]
        ),
        (
            { .invite(invitation(), InvitationToken(id: .generate()), from: "Ann\nBcc: eve@example.org", link: nil) },
            ["You're invited", "Sie sind eingeladen", "Vous avez une invitation", "Tiene una invitación"],
            ["Ann Bcc: eve@example.org lädt Sie in die Rolle moderator ein", "innerhalb von 7 Tagen", "\n\nToken "]
        ),
        (
            { .invite(invitation(), InvitationToken(id: .generate()), from: nil, link: link) },
            ["You're invited", "Sie sind eingeladen", "Vous avez une invitation", "Tiene una invitación"],
            ["Jemand lädt Sie", "\(link)?token="]
        ),
        (
            { AccountNotice.passwordChanged.mail(to: email, at: now) },
            [
                "Your password was changed", "Ihr Passwort wurde geändert", "Votre mot de passe a été modifié",
                "Se cambió su contraseña",
            ], ["am 2026-05-14 09:30:05 UTC geändert", "„Passwort vergessen?“"]
        ),
        (
            { AccountNotice.secondFactorSetUp.mail(to: email, at: now) },
            [
                "A second factor was set up", "Ein zweiter Faktor wurde eingerichtet",
                "Un second facteur a été configuré", "Se configuró un segundo factor",
            ], ["Am 2026-05-14 09:30:05 UTC wurde eine Authenticator-App"]
        ),
        (
            { AccountNotice.secondFactorRemoved.mail(to: email, at: now) },
            [
                "Your second factor was removed", "Ihr zweiter Faktor wurde entfernt",
                "Votre second facteur a été supprimé", "Se quitó su segundo factor",
            ], ["am 2026-05-14 09:30:05 UTC entfernt"]
        ),
    ]

    @Test("every mail's subject and text are in the requester's language, or in English if there is none")
    func languages() throws {
        for (make, subjects, german) in Self.mails {
            for (tag, subject) in zip(["en", "de", "fr", "es"], subjects) {
                let mail = MessageCatalogue.$current.withValue(MailTranslations.builtIn[tag]) { make() }
                #expect(mail.subject == subject && mail.language == tag && mail.to == Self.email)
                let isEnglish = mail.text.contains(/\b(you|your|nothing|password|within)\b/)
                #expect(isEnglish == (tag == "en"), "\(mail.text)")
                if tag == "de" { for part in german { #expect(mail.text.contains(part), "\(mail.text)") } }
            }
        }
    }

    @Test("an operator's file adds a mail language or rewords one; whatever it lacks is in English")
    func operatorsFile() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "translations-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in [
            "it.po": """
            msgid ""
            msgstr "Language: it\\n"

            msgid "Confirm your e-mail address"
            msgstr "Conferma il tuo indirizzo e-mail"

            msgid "Somebody registered this address. If it was you, confirm it within {0} minutes:"
            msgstr "Entro {0} minuti:"
            """,
            "de.po": """
            msgid ""
            msgstr "Language: de\\n"

            msgid "You're invited"
            msgstr "Komm dazu"

            msgctxt "name"
            msgid "moderator"
            msgstr "Gesprächsleitung"
            """,
        ] {
            try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
        let languages = try MessageCatalogues(folder: folder.path, over: MailTranslations.builtIn)
        MessageCatalogue.$current.withValue(languages.preferred("it-IT")) {
            let confirmation = Mail.confirm(Self.email, Self.secret, link: nil)
            #expect(confirmation.language == "it" && confirmation.subject == "Conferma il tuo indirizzo e-mail")
            #expect(confirmation.text.hasPrefix("Entro 30 minuti:\n\ntoken \(Self.secret.text)\n"))
            #expect(confirmation.text.hasSuffix("without the confirmation there is no account."))
            #expect(Mail.test(Self.email).subject == "Test mail")
        }
        MessageCatalogue.$current.withValue(languages["de"]) {
            let mail = Mail.invite(Self.invitation(), InvitationToken(id: .generate()), from: "Ann", link: nil)
            #expect(mail.subject == "Komm dazu" && mail.text.contains("Ann lädt Sie in die Rolle Gesprächsleitung ein"))
            #expect(Mail.test(Self.email).subject == "Testmail")
        }
    }

    @Test("a mail keeps its language while it waits, however often its delivery is tried")
    func retries() async throws {
        let folder = MailFolder()
        defer { folder.remove() }
        let attempts = Mutex(0)
        let room = MailRoom(
            carrier: {
                attempts.withLock { count in
                    count += 1
                    return count < 3 ? .folder(URL(fileURLWithPath: "/proc/nowhere")) : .folder(folder.url)
                }
            }, languages: MailTranslations.builtIn, logger: Logger(label: "mail"),
            pauses: [.milliseconds(1), .milliseconds(1), .milliseconds(1)])
        try Language.$wish.withValue("de") { try room.post { .alreadyRegistered(Self.email) } }
        try room.post { .test(Self.email) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Language.$wish.withValue("fr") { try await room.run() } }
            let mails = try await folder.mails(2)
            #expect(mails.contains { $0.contains("Subject: Sie haben schon ein Konto\nMIME") }, "\(mails)")
            // The language of the task that delivers the mails doesn't matter.
            #expect(mails.contains { $0.contains("Subject: Test mail\n") }, "\(mails)")
            group.cancelAll()
        }
        #expect(attempts.withLock(\.self) > 3)
    }

    @Test("a mail that is requested again is in the language of the new request")
    func asking() async throws {
        try await MailPlace.with { mail in
            let (server, folder) = (mail.server, mail.folder)
            let isConfirmed = try await Language.$wish.withValue("de-AT") { try await mail.register() }
            #expect(!isConfirmed)
            #expect(try await folder.mails(1)[0].contains("innerhalb von 30 Minuten"))
            try await Language.$wish.withValue("es") { try await server.resendConfirmation(email: Self.email) }
            let second = try await folder.mails(2)[1]
            #expect(second.contains("en un plazo de 30 minutos") && second.contains("\nContent-Language: es\n"))
            let id = try #require(second.firstMatch(of: /identificador del token (\S+)/))
            let token = try #require(second.firstMatch(of: /\ntoken (\S+)/))
            try await server.confirm(token: String(token.1), tokenID: String(id.1))
            // This request names no language.
            try await server.sendReset(email: Self.email)
            let third = try await folder.mails(3)[2]
            #expect(third.contains("within 30 minutes") && third.contains("\nContent-Language: en\n"))
            let reset = try mail.token(in: third)
            // This request comes from a page of the panel.
            try await MessageCatalogue.$current.withValue(MailTranslations.builtIn["fr"]) {
                try await server.reset(password: "battery staple", token: reset.token, tokenID: reset.id)
            }
            #expect(try await folder.mails(4)[3].contains("a été modifié le"))
            let login = try await server.login(email: Self.email, password: "battery staple")
            try await Language.$wish.withValue("fr;q=0.2, de;q=0.3") {
                _ = try await server.changePassword(
                    of: Caller(userID: login.userID, sessionID: login.sessionID), from: "battery staple",
                    to: "battery stable")
            }
            #expect(try await folder.mails(5)[4].contains("Das Passwort Ihres Kontos"))
        }
    }

    @Test("a hook is told the language, for mails that it writes itself")
    func hook() throws {
        let mail = MessageCatalogue.$current.withValue(MailTranslations.builtIn["fr"]) { Mail.test(Self.email) }
        let json = try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(mail)) as? [String: Any])
        #expect(json["language"] as? String == "fr" && json["subject"] as? String == "E-mail de test")
    }
}
