import TomboloLocalization
internal import TomboloModel

extension Mail {
    /// The mail for an invitation, in the language of ``MessageCatalogue/current``.
    /// - Parameter inviter: the inviter's name; nil if it isn't known.
    static func invite(
        _ invitation: Invitation, _ token: InvitationToken, from inviter: String?, link: String?
    ) -> Mail {
        let text = token.text
        let whole = link.map { "\($0)\($0.contains("?") ? "&" : "?")token=\(text)" }
        // A name may contain anything, but mustn't begin a line of its own.
        let name =
            inviter.map { $0.split(whereSeparator: \.isNewline).joined(separator: " ") } ?? localized("Somebody")
        let (role, days) = (localizedName(invitation.role), Invitation.lifetimeSeconds / 86_400)
        return Mail(
            .invite, to: invitation.email, subject: localized("You're invited"),
            paragraphs: [
                localized("\(name) invites you: the role \(role). Accept within \(days) days:"),
                whole ?? localized("token \(text)"),
                localized("If you don't know what this is about, do nothing."),
            ],
            token: text, tokenID: invitation.id.stringValue, link: whole)
    }
}
