import TomboloLocalization
internal import TomboloModel

/// Mails about accounts, in the language of ``MessageCatalogue/current``.
extension Mail {
    static func confirm(_ email: String, _ secret: MailTokens.Secret, link: String?) -> Mail {
        let whole = link.map { address($0, secret) }
        return Mail(
            .confirm, to: email, subject: localized("Confirm your e-mail address"),
            paragraphs: [
                localized(
                    "Somebody registered this address. If it was you, confirm it within \(tokenMinutes) minutes:"),
                whole ?? words(secret),
                localized("If it wasn't you, do nothing: without the confirmation there is no account."),
            ],
            token: secret.text, tokenID: secret.id.stringValue, link: whole)
    }

    static func reset(_ email: String, _ secret: MailTokens.Secret, link: String?) -> Mail {
        let whole = link.map { address($0, secret) }
        return Mail(
            .reset, to: email, subject: localized("Set a new password"),
            paragraphs: [
                localized(
                    "Somebody asked for a new password for the account with this address. If it was you, set it within "
                        + "\(tokenMinutes) minutes:"),
                whole ?? words(secret),
                localized("If it wasn't you, do nothing: the password stays."),
            ],
            token: secret.text, tokenID: secret.id.stringValue, link: whole)
    }

    static func alreadyRegistered(_ email: String) -> Mail {
        Mail(
            .alreadyRegistered, to: email, subject: localized("You already have an account"),
            paragraphs: [
                localized(
                    "Somebody registered this address, which already has an account. If it was you, log in, or ask for "
                        + "a new password. If it wasn't you, there is nothing to do.")
            ])
    }

    static func welcome(_ email: String, _ secret: MailTokens.Secret, link: String) -> Mail {
        let whole = address(link, secret)
        return Mail(
            .welcome, to: email, subject: localized("An account for you"),
            paragraphs: [
                localized(
                    "An administrator created an account for you with this address. Choose its password within "
                        + "\(welcomeDays) days:"),
                whole,
                localized(
                    "If you don't know what this is about, do nothing: nobody can log in to the account without a "
                        + "password."),
            ],
            token: secret.text, tokenID: secret.id.stringValue, link: whole)
    }

    static func passwordLink(_ email: String, _ secret: MailTokens.Secret, link: String) -> Mail {
        let whole = address(link, secret)
        return Mail(
            .reset, to: email, subject: localized("Set a new password"),
            paragraphs: [
                localized(
                    "An administrator had this link sent to you, to set a new password for the account with this address. "
                        + "It's good for \(tokenMinutes) minutes:"),
                whole,
                localized("If you don't need a new password, do nothing: everything stays as it is."),
            ],
            token: secret.text, tokenID: secret.id.stringValue, link: whole)
    }

    static func test(_ email: String) -> Mail {
        Mail(
            .test, to: email, subject: localized("Test mail"),
            paragraphs: [
                localized(
                    "You asked the admin server for a test mail. Mails from this server arrive: there is nothing to "
                        + "do.")
            ])
    }

    static func address(_ link: String, _ secret: MailTokens.Secret) -> String {
        "\(link)\(link.contains("?") ? "&" : "?")token=\(secret.text)&tokenId=\(secret.id)"
    }

    /// For a mail without a link: an app asks for both.
    private static func words(_ secret: MailTokens.Secret) -> String {
        "\(localized("token \(secret.text)"))\n\(localized("token id \(secret.id)"))"
    }
}
