extension MailTranslations {
    static let german = #"""
        msgid ""
        msgstr ""
        "Language: de\n"
        "X-Language-Name: Deutsch\n"
        "X-Nouns: capitalized\n"
        "Plural-Forms: nplurals=2; plural=(n != 1);\n"
        "Content-Type: text/plain; charset=UTF-8\n"

        # Packages/Server/Authentication/Mail/Texts/AccountNotice.swift

        msgid "Your password was changed"
        msgstr "Ihr Passwort wurde geändert"

        msgid "A second factor was set up"
        msgstr "Ein zweiter Faktor wurde eingerichtet"

        msgid "Your second factor was removed"
        msgstr "Ihr zweiter Faktor wurde entfernt"

        msgid "The password of your account with this address was changed on {0}. All earlier logins were ended."
        msgstr "Das Passwort Ihres Kontos mit dieser Adresse wurde am {0} geändert. Alle früheren Anmeldungen wurden beendet."

        msgid "If it was you, there is nothing to do. If it wasn't you, set a new password at once with \"Forgot your password?\", and tell the server's operator."
        msgstr "Wenn Sie das waren, müssen Sie nichts tun. Wenn nicht, legen Sie sofort über „Passwort vergessen?“ ein neues Passwort fest und geben Sie der Person Bescheid, die den Server betreibt."

        msgid "An authenticator app was set up as the second factor of your account with this address on {0}."
        msgstr "Am {0} wurde eine Authenticator-App als zweiter Faktor Ihres Kontos mit dieser Adresse eingerichtet."

        msgid "If it was you, there is nothing to do. If it wasn't you, change your password, and tell the server's operator, who can remove the second factor."
        msgstr "Wenn Sie das waren, müssen Sie nichts tun. Wenn nicht, ändern Sie Ihr Passwort und geben Sie der Person Bescheid, die den Server betreibt und den zweiten Faktor entfernen kann."

        msgid "The second factor of your account with this address was removed on {0}, by you or by somebody who manages accounts. From now on, your password alone logs you in."
        msgstr "Der zweite Faktor Ihres Kontos mit dieser Adresse wurde am {0} entfernt, von Ihnen oder von einer Person, die Konten verwaltet. Von nun an genügt Ihr Passwort für die Anmeldung."

        msgid "If you didn't expect this, change your password at once, set up a second factor again, and tell the server's operator."
        msgstr "Wenn Sie das nicht erwartet haben, ändern Sie sofort Ihr Passwort, richten Sie wieder einen zweiten Faktor ein und geben Sie der Person Bescheid, die den Server betreibt."

        # Packages/Server/Authentication/Mail/Texts/Mail+Accounts.swift

        msgid "Confirm your e-mail address"
        msgstr "Bestätigen Sie Ihre E-Mail-Adresse"

        msgid "Somebody registered this address. If it was you, confirm it within {0} minutes:"
        msgstr "Jemand hat diese Adresse registriert. Wenn Sie das waren, bestätigen Sie sie innerhalb von {0} Minuten:"

        msgid "If it wasn't you, do nothing: without the confirmation there is no account."
        msgstr "Wenn Sie das nicht waren, müssen Sie nichts tun: Ohne die Bestätigung entsteht kein Konto."

        msgid "Set a new password"
        msgstr "Neues Passwort festlegen"

        msgid "Somebody asked for a new password for the account with this address. If it was you, set it within {0} minutes:"
        msgstr "Jemand hat ein neues Passwort für das Konto mit dieser Adresse angefordert. Wenn Sie das waren, legen Sie es innerhalb von {0} Minuten fest:"

        msgid "If it wasn't you, do nothing: the password stays."
        msgstr "Wenn Sie das nicht waren, müssen Sie nichts tun: Das Passwort bleibt, wie es ist."

        msgid "You already have an account"
        msgstr "Sie haben schon ein Konto"

        msgid "Somebody registered this address, which already has an account. If it was you, log in, or ask for a new password. If it wasn't you, there is nothing to do."
        msgstr "Jemand wollte diese Adresse registrieren, die schon ein Konto hat. Wenn Sie das waren, melden Sie sich an oder fordern Sie ein neues Passwort an. Wenn nicht, müssen Sie nichts tun."

        msgid "An account for you"
        msgstr "Ein Konto für Sie"

        msgid "An administrator created an account for you with this address. Choose its password within {0} days:"
        msgstr "Die Administration hat für Sie ein Konto mit dieser Adresse erstellt. Legen Sie innerhalb von {0} Tagen das Passwort dafür fest:"

        msgid "If you don't know what this is about, do nothing: nobody can log in to the account without a password."
        msgstr "Wenn Sie nicht wissen, worum es geht, müssen Sie nichts tun: Ohne Passwort kann sich niemand mit dem Konto anmelden."

        msgid "An administrator had this link sent to you, to set a new password for the account with this address. It's good for {0} minutes:"
        msgstr "Die Administration hat Ihnen diesen Link schicken lassen, damit Sie ein neues Passwort für das Konto mit dieser Adresse festlegen können. Er ist {0} Minuten gültig:"

        msgid "If you don't need a new password, do nothing: everything stays as it is."
        msgstr "Wenn Sie kein neues Passwort brauchen, müssen Sie nichts tun: Alles bleibt, wie es ist."

        msgid "Test mail"
        msgstr "Testmail"

        msgid "You asked the admin server for a test mail. Mails from this server arrive: there is nothing to do."
        msgstr "Sie haben beim Admin-Server eine Testmail angefordert. E-Mails dieses Servers kommen an: Sie müssen nichts tun."

        msgid "token {0}"
        msgstr "Token {0}"

        msgid "token id {0}"
        msgstr "Token-ID {0}"

        # Packages/Server/Authentication/Mail/Texts/Mail+Invitation.swift

        msgid "Somebody"
        msgstr "Jemand"

        msgid "You're invited"
        msgstr "Sie sind eingeladen"

        msgid "{0} invites you: the role {1}. Accept within {2} days:"
        msgstr "{0} lädt Sie in die Rolle {1} ein. Nehmen Sie die Einladung innerhalb von {2} Tagen an:"

        msgid "If you don't know what this is about, do nothing."
        msgstr "Wenn Sie nicht wissen, worum es geht, müssen Sie nichts tun."

        """#
}
