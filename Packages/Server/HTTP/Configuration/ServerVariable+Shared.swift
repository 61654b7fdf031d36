import TomboloAuthentication
import TomboloLocalization

/// The variables that ``ServerConfiguration`` reads for every server.
extension ServerVariable {
    /// - Parameter role: the database role whose rights the server needs.
    package static func database(role: String) -> Self {
        ServerVariable(
            ServerConfiguration.databaseVariable, .database, .database,
            does: "postgresql://USER:PASSWORD@HOST:PORT/DATABASE. USER has the rights of the role \(role): see "
                + "docs/database-roles.md",
            without: "required")
    }

    package static let host = ServerVariable(
        ServerConfiguration.hostVariable, .network, does: "the address to listen on",
        without: ServerConfiguration.defaultHost)

    package static func port(_ name: String, default port: Int) -> Self {
        ServerVariable(name, .network, does: "the port to listen on, 0 for a free one", without: String(port))
    }

    package static let proxies = ServerVariable(
        ServerConfiguration.proxiesVariable, .network,
        does:
            "proxies in front of this server, such as 10.0.0.0/8, 2001:db8::7. X-Forwarded-For and Forwarded are "
            + "trusted only from these; they must set one of the two, or speak the PROXY protocol",
        without: "none")

    package static let proxyProtocol = ServerVariable(
        ServerConfiguration.proxyProtocolVariable, .network,
        does:
            "on: every connection from a trusted proxy begins with a PROXY protocol header, before TLS, and no "
            + "other connection does",
        without: "off")

    /// - Parameter limit: the server's default.
    package static func connections(default limit: Int) -> Self {
        ServerVariable(
            ServerConfiguration.connectionsVariable, .network,
            does: "how many connections one address may have at a time", without: String(limit))
    }

    package static let certificate = ServerVariable(
        CertificateFiles.certificateVariable, .network,
        does:
            "a PEM file for HTTPS: the certificate with its chain. It may be replaced while the server runs; "
            + "SIGHUP reloads it at once",
        without: "none: HTTP")

    package static let certificateKey = ServerVariable(
        CertificateFiles.keyVariable, .network,
        does: "a PEM file with the certificate's key, replaced in the same way",
        without: "none")

    package static let tokenSecret = ServerVariable(
        ServerConfiguration.secretVariable, .accounts, .secret,
        does:
            "the key for access tokens, the same on all servers, at least "
            + "\(ServerConfiguration.minimumSecretBytes) bytes. Generate one with: openssl rand -hex 32",
        without: "required")

    package static let breachedPasswords = ServerVariable(
        BreachedPasswords.variable, .accounts, does: "a sorted file of SHA-1 hashes of passwords to refuse",
        without: "only very common passwords are refused")

    /// - Parameter fallback: what happens to mails without a carrier.
    package static func mail(without fallback: String) -> Self {
        ServerVariable(
            MailHook.variable, .mail, .mail,
            does: "how to send mail: folder:/path, https://… or command:/usr/sbin/sendmail -t -i", without: fallback)
    }

    package static let mailSecret = ServerVariable(
        MailHook.secretVariable, .mail, .secret,
        does: "sent as a bearer token with each mail to an https:// address",
        without: "none")

    /// For servers that send mails and have no panel.
    package static let mailLanguages = ServerVariable(
        MessageCatalogues.folderVariable, .languages,
        does: "a folder with files such as de.po: more languages for mails, the same as the admin server's",
        without: "the languages that come with the server")

    package static let logLevel = ServerVariable(
        ServerConfiguration.logLevelVariable, .monitoring,
        does: "trace, debug, info, notice, warning, error or critical", without: "info")

    package static let metricsPort = ServerVariable(
        MetricsConfiguration.portVariable, .monitoring,
        does: "serve GET /metrics for Prometheus on this port, without a token; 0 for a free one",
        without: "no metrics")

    package static let metricsHost = ServerVariable(
        MetricsConfiguration.hostVariable, .monitoring,
        does: "the address to serve metrics on; only the operator's network may reach it",
        without: ServerConfiguration.defaultHost)
}
