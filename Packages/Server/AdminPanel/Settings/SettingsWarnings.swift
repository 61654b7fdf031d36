import AdminService
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization

/// Warnings about a server's settings, before they cause problems.
struct SettingsWarnings: Sendable {
    let settings: ServerSettings
    let hasMail: Bool
    /// Whether the server has an address for links in mails.
    let hasAddress: Bool
    /// Whether the page was requested over HTTPS.
    let isSecure: Bool

    var texts: [String] {
        var texts: [String] = []
        if !hasMail {
            texts.append(
                localized(
                    "This server doesn't send mail: \(MailHook.variable) isn't set. Invitations aren't mailed, so "
                        + "people have to pass on the links themselves, and nobody can reset a forgotten password."))
        } else if settings.keepsMails {
            texts.append(
                localized(
                    "Mails reach nobody: \(MailHook.variable) keeps them in a folder, which is for development."))
        }
        if hasMail, !hasAddress {
            texts.append(
                localized(
                    "Mails can't have links to this server: \(AdminAddress.variable) isn't set. So nobody can reset a "
                        + "forgotten password."))
        }
        if !isSecure {
            texts.append(
                localized(
                    "This page came over HTTP, so the session's cookie isn't a secure one, and anybody on the network "
                        + "can read it. Set \(CertificateFiles.certificateVariable) and "
                        + "\(CertificateFiles.keyVariable), or name a proxy that speaks HTTPS in "
                        + "\(ServerConfiguration.proxiesVariable)."))
        }
        if settings[BreachedPasswords.variable] == nil {
            texts.append(
                localized(
                    "Passwords that are known from leaks are accepted, except for very common ones: "
                        + "\(BreachedPasswords.variable) isn't set."))
        }
        return texts
    }
}
