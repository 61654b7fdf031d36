import TomboloAuthentication
public import TomboloHTTP
import TomboloLocalization

extension AdminServer {
    public static let mapTilesVariable = "TOMBOLO_MAP_TILES"
    public static let mapAttributionVariable = "TOMBOLO_MAP_ATTRIBUTION"

    public static let translationsVariable = MessageCatalogues.folderVariable

    /// All variables that the admin server reads from its environment, by topic.
    public static let variables: [ServerVariable] = [
        .database(role: "tombolo_admin"),
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
        .host, .port(portVariable, default: defaultPort),
        ServerVariable(
            AdminAddress.variable, .network, .link,
            does:
                "the address of this server, such as https://admin.example.org: links in mails begin with it. With it "
                + "and \(MailHook.variable), users can reset forgotten passwords",
            without: "none"),
        .proxies, .proxyProtocol, .connections(default: HTTPLimits.defaultConnectionsPerAddress), .certificate,
        .certificateKey, .tokenSecret,
        ServerVariable(
            ServerConfiguration.secondFactorVariable, .accounts,
            does:
                "who needs a second factor: optional, users who have set one up; everywhere, also users with a role "
                + "that applies everywhere, who must set one up; everybody, all users",
            without: SecondFactorPolicy.optional.rawValue),
        .breachedPasswords,
        .mail(without: "none: the person who invites somebody gets the link to pass on"),
        .mailSecret,
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
        .logLevel,
        ServerVariable(
            RequestRetention.variable, .monitoring,
            does:
                "how many days to keep requests in the database for the panel, the same on all admin servers; 0 keeps "
                + "only the latest, in memory",
            without: String(RequestRetention.defaultDays)),
        .metricsPort, .metricsHost,
    ]
}
