import AdminService
import TomboloAuthentication
import TomboloHTTP

/// What people should know about a server's settings before it matters.
struct SettingsWarnings: Sendable {
    let settings: ServerSettings
    let hasMail: Bool
    /// Whether links in mails have something to begin with.
    let hasAddress: Bool
    /// Whether the page came by HTTPS.
    let isSecure: Bool

    var texts: [String] {
        var texts: [String] = []
        if !hasMail {
            texts.append(
                "This server sends no mails: \(MailHook.variable) isn't set. Invitations aren't mailed, so whoever "
                    + "invites somebody has to hand the link over, and nobody can replace a forgotten password.")
        } else if settings.keepsMails {
            texts.append(
                "Mails reach nobody: \(MailHook.variable) keeps them in a folder, which is for development.")
        }
        if hasMail, !hasAddress {
            texts.append(
                "Mails can't have links to this server: \(AdminAddress.variable) isn't set. So nobody can replace a "
                    + "forgotten password.")
        }
        if !isSecure {
            texts.append(
                "This page came over HTTP, so the session's cookie isn't a secure one, and anybody on the network can "
                    + "read it. Set \(CertificateFiles.certificateVariable) and \(CertificateFiles.keyVariable), or name "
                    + "a proxy that speaks HTTPS in \(ServerConfiguration.proxiesVariable).")
        }
        if settings[BreachedPasswords.variable] == nil {
            texts.append(
                "Passwords that are known from leaks are accepted, except for very common ones: "
                    + "\(BreachedPasswords.variable) isn't set.")
        }
        return texts
    }
}
