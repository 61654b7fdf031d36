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
                    "Mails don't reach anybody: \(MailHook.variable) stores them in a folder, which is meant for "
                        + "development."))
        }
        if hasMail, !hasAddress {
            texts.append(
                localized(
                    "Mails can't link to this server because \(AdminAddress.variable) isn't set, so nobody can reset a "
                        + "forgotten password."))
        }
        if !isSecure {
            texts.append(
                localized(
                    "This page was loaded over HTTP, so the session cookie isn't secure, and anybody on the network "
                        + "can read it. Set \(CertificateFiles.certificateVariable) and "
                        + "\(CertificateFiles.keyVariable), or name a proxy that speaks HTTPS in "
                        + "\(ServerConfiguration.proxiesVariable)."))
        }
        if settings[BreachedPasswords.variable] == nil {
            texts.append(
                localized(
                    "Leaked passwords are accepted, except for very common ones: \(BreachedPasswords.variable) isn't "
                        + "set."))
        }
        return texts
    }
}
