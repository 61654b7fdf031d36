import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization

extension AdminServer {
    public static let mapTilesVariable = "TOMBOLO_MAP_TILES"
    public static let mapAttributionVariable = "TOMBOLO_MAP_ATTRIBUTION"

    public static let translationsVariable = MessageCatalogues.folderVariable

    /// All variables that the admin server reads from its environment, by topic.
    public static let variables: [ServerVariable] = [
        ServerVariable(
            ServerConfiguration.databaseVariable, .database, .database,
            does: "postgresql://USER:PASSWORD@HOST:PORT/DATABASE. USER has the rights of the role tombolo_admin: see "
                + "docs/database-roles.md",
            without: "required"),
        ServerVariable(
            SQLConsole.variable, .database, .database,
            does: "a separate database user that may only SELECT, for the panel's SQL page: see docs/database-roles.md",
            without: "no SQL page"),
        ServerVariable(
            ModelChanges.variable, .database, .database,
            does:
                "a separate database user that acts as the owner of the tables, for changing models and rules in the "
                + "panel: see docs/database-roles.md",
            without: "they are changed with migration-tool"),
        ServerVariable(
            ServerConfiguration.hostVariable, .network, does: "the address to listen on",
            without: ServerConfiguration.defaultHost),
        ServerVariable(
            portVariable, .network, does: "the port to listen on, 0 for a free one", without: String(defaultPort)),
        ServerVariable(
            AdminAddress.variable, .network, .link,
            does:
                "the address of this server, such as https://admin.example.org: links in mails begin with it. With it "
                + "and \(MailHook.variable), users can reset forgotten passwords",
            without: "none"),
        ServerVariable(
            ServerConfiguration.proxiesVariable, .network,
            does:
                "proxies in front of this server, such as 10.0.0.0/8, 2001:db8::7. X-Forwarded-For and Forwarded are "
                + "trusted only from these; they must set one of the two, or speak the PROXY protocol",
            without: "none"),
        ServerVariable(
            ServerConfiguration.proxyProtocolVariable, .network,
            does:
                "on: every connection from a trusted proxy begins with a PROXY protocol header, before TLS, and no "
                + "other connection does",
            without: "off"),
        ServerVariable(
            ServerConfiguration.connectionsVariable, .network,
            does: "how many connections one address may have at a time",
            without: String(HTTPLimits.defaultConnectionsPerAddress)),
        ServerVariable(
            CertificateFiles.certificateVariable, .network,
            does:
                "a PEM file for HTTPS: the certificate with its chain. It may be replaced while the server runs; "
                + "SIGHUP reloads it at once",
            without: "none: HTTP"),
        ServerVariable(
            CertificateFiles.keyVariable, .network,
            does: "a PEM file with the certificate's key, replaced in the same way",
            without: "none"),
        ServerVariable(
            ServerConfiguration.secretVariable, .accounts, .secret,
            does:
                "the key for access tokens, the same on all servers, at least "
                + "\(ServerConfiguration.minimumSecretBytes) bytes. Generate one with: openssl rand -hex 32",
            without: "required"),
        ServerVariable(
            ServerConfiguration.secondFactorVariable, .accounts,
            does:
                "who needs a second factor: optional, users who have set one up; everywhere, also users with a role "
                + "that applies everywhere, who must set one up; everybody, all users",
            without: SecondFactorPolicy.optional.rawValue),
        ServerVariable(
            BreachedPasswords.variable, .accounts, does: "a sorted file of SHA-1 hashes of passwords to refuse",
            without: "only very common passwords are refused"),
        ServerVariable(
            MailHook.variable, .mail, .mail,
            does: "how to send mail: folder:/path, https://… or command:/usr/sbin/sendmail -t -i",
            without: "none: the person who invites somebody gets the link to pass on"),
        ServerVariable(
            MailHook.secretVariable, .mail, .secret,
            does: "sent as a bearer token with each mail to an https:// address",
            without: "none"),
        ServerVariable(
            PeopleOptions.linkVariable, .mail, .link,
            does: "where the links in invitations lead; the token is added as token=",
            without: "\(AdminAddress.variable)'s panel"),
        ServerVariable(
            mapTilesVariable, .maps, .link,
            does:
                "where the panel gets its map tiles, such as https://tile.openstreetmap.org/{z}/{x}/{y}.png. That "
                + "server learns who looks at which place",
            without: "places are shown as text and a link"),
        ServerVariable(
            mapAttributionVariable, .maps, does: "the credit below a map", without: "© OpenStreetMap contributors"),
        ServerVariable(
            ThumbnailSettings.variable, .images,
            does:
                "the absolute path of libvips's vipsthumbnail, which makes image thumbnails in a separate process; off "
                + "for none",
            without: "the one on the PATH, if there is one"),
        ServerVariable(
            translationsVariable, .languages,
            does:
                "a folder with files such as de.po: more languages for the panel and mails, and names of classes and "
                + "properties. See docs/translations.md",
            without: "the languages that come with the panel"),
        ServerVariable(
            BackupSettings.folderVariable, .backups,
            does:
                "a folder that the server's user owns, mode 0700, for backups in the panel. Needs pg_dump on the PATH: "
                + "see docs/backups.md",
            without: "none are made"),
        ServerVariable(
            BackupSettings.databaseVariable, .backups, .database,
            does: "postgresql://… with a user who may read the whole database", without: "none are made"),
        ServerVariable(
            BackupSettings.intervalVariable, .backups, does: "hours between automatic backups, 0 for none",
            without: String(BackupSettings.defaultHours)),
        ServerVariable(
            BackupSettings.keptVariable, .backups, does: "how many automatic backups to keep",
            without: String(BackupSettings.defaultKeptCount)),
        ServerVariable(
            RestoreSettings.databaseVariable, .backups, .database,
            does:
                "postgresql://…/postgres with a user who may create and rename databases, to restore backups in the "
                + "panel. Needs pg_restore on the PATH: see docs/backups.md",
            without: "they are restored on the command line"),
        ServerVariable(
            ServerConfiguration.logLevelVariable, .monitoring,
            does: "trace, debug, info, notice, warning, error or critical", without: "info"),
        ServerVariable(
            RequestRetention.variable, .monitoring,
            does:
                "how many days to keep requests in the database for the panel, the same on all admin servers; 0 keeps "
                + "only the latest, in memory",
            without: String(RequestRetention.defaultDays)),
        ServerVariable(
            MetricsConfiguration.portVariable, .monitoring,
            does: "serve GET /metrics for Prometheus on this port, without a token; 0 for a free one",
            without: "no metrics"),
        ServerVariable(
            MetricsConfiguration.hostVariable, .monitoring,
            does: "the address to serve metrics on; only the operator's network may reach it",
            without: ServerConfiguration.defaultHost),
    ]
}
