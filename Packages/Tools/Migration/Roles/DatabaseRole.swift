import TomboloAuthentication

/// A PostgreSQL role that a program connects as, with all its rights. The migration derives its grants from this,
/// programs check at startup that they have what they need, docs/database-roles.md gets its tables from it, and tests
/// try everything that isn't listed.
public struct DatabaseRole: Hashable, Sendable {
    /// The end of the role's name in PostgreSQL: `gateway`, as in `tombolo_gateway`.
    public let name: String
    /// The program that connects as the role.
    public let program: String
    /// Whether the role sees every row of classes despite row-level security: rows in the trash, and rows that an
    /// app's policies hide from other services.
    public let seesEveryRow: Bool
    public let rights: [DatabaseRight]

    public init(name: String, program: String, seesEveryRow: Bool = false, rights: [DatabaseRight]) {
        self.name = name
        self.program = program
        self.seesEveryRow = seesEveryRow
        self.rights = rights
    }

    /// The roles of every Tombolo database. Apps may add more, see ``SchemaExtension/databaseRoles``.
    public static let all = [gateway, admin, services]

    /// `sync-gateway`: applies uploads, reads for devices, makes ticks, cleans up, and serves accounts.
    public static let gateway = DatabaseRole(
        name: "gateway", program: "sync-gateway", seesEveryRow: true,
        rights: [
            DatabaseRight(.classes, .select, .insert, .update, .delete, for: "devices' reads and uploads"),
            DatabaseRight(.schema("tombolo"), .usage, for: "everything below"),
            DatabaseRight(.table("class"), .select, for: "finding tables that were renamed"),
            DatabaseRight(.table("class_column"), .select, for: "finding columns that were renamed"),
            DatabaseRight(.table("document"), .select, for: "models and rules"),
            DatabaseRight(.table("database_role"), .select, for: "the check of its rights at the start"),
            DatabaseRight(
                .table("changelog"), .select, .insert("class", "key", "operation", "stamp", "client", "number", "root"),
                for:
                    "what changed, how far a device's uploads came, and from where; who may write `client` may say whose "
                    + "change it writes to a class"),
            DatabaseRight(.sequence("changelog_seq"), .usage, .select, for: "the place of a change in the changelog"),
            DatabaseRight(.table("changelog_partition"), .select, for: "retention"),
            DatabaseRight(.table("tick"), .select, .insert, .delete, for: "the sequencer, and retention"),
            DatabaseRight(
                .table("sequencer"), .select, .update("epoch"),
                for: "the sequencer: counting elections, refusing late ticks"),
            DatabaseRight(.table("retention"), .select, .insert, .update, for: "retention"),
            DatabaseRight(
                .table("audit_position"), .select("tick"),
                for: "retention, which keeps what the audit log hasn't copied"),
            DatabaseRight(.table("client"), .select, .insert, .update, .delete, for: "devices, and retention"),
            DatabaseRight(
                .table("receipt"), .select, .insert, .update, .delete, for: "what was applied of devices, and retention"
            ),
            DatabaseRight(.table("set_aside"), .select, .insert, .delete, for: "changes that can't be applied"),
            DatabaseRight(
                .table("readable"), .select, .insert, .update, .delete,
                for: "devices that come back after the rules changed"),
            DatabaseRight(
                .table("gateway"), .select, .insert, .update, .delete,
                for: "noting that it is there, and forgetting others"
            ),
            DatabaseRight(.table("routine"), .select, .insert, .update, for: "noting what ran by itself"),
            DatabaseRight(
                .table("inspector_question"), .select, .delete, for: "what users of the panel ask about its devices"),
            DatabaseRight(.table("inspector_answer"), .select, .insert, for: "answering them"),
            DatabaseRight(.function("take_lock(text)"), .execute, for: "electing the sequencer and the cleaner"),
            DatabaseRight(.function("attach_changelog_partition(bigint)"), .execute, for: "retention"),
            DatabaseRight(.function("open_changelog_partition(bigint, bigint)"), .execute, for: "retention"),
            DatabaseRight(.function("drop_changelog_partition(bigint)"), .execute, for: "retention"),
            DatabaseRight(
                .function("forget_foreign_changelog()"), .execute,
                for: "the sequencer, on a database restored from another cluster"),
        ] + accountRights)

    /// `admin-server`: lists the trash, fills and empties it, and serves `/api`.
    public static let admin = DatabaseRole(
        name: "admin", program: "admin-server", seesEveryRow: true,
        rights: [
            DatabaseRight(
                .classes, .select, .insert, .update, .delete,
                for: "`/api`, the trash, and the roles of users; who may do what follows from the rules"),
            DatabaseRight(.function("trash(text, text, text, uuid, text)"), .execute, for: "moving into the trash"),
            DatabaseRight(.function("restore(text, text)"), .execute, for: "taking out of the trash"),
            DatabaseRight(
                .function("add_rules(text, bigint, text, text)"), .execute, for: "changing the permission matrix"),
            DatabaseRight(
                .function("set_trashed(text, text, text, text)"), .execute,
                for: "restoring with another value of a unique property"),
            DatabaseRight(.function("purge(text, text)"), .execute, for: "deleting for ever"),
            DatabaseRight(.function("kept_in_trash(text, text, timestamp with time zone)"), .execute, for: "the purge"),
            DatabaseRight(.function("take_purge_lock()"), .execute, for: "electing who purges"),
            DatabaseRight(.function("take_backup_lock()"), .execute, for: "electing who makes a backup"),
            DatabaseRight(
                .function("join_by_invitation(bytea, bytea, bytea, text, bigint, bigint, bigint, bytea, bytea)"),
                .execute,
                for: "accounts of people who were invited"),
            DatabaseRight(.table("invitation"), .select, .insert, .update, .delete, for: "invitations"),
            DatabaseRight(
                .table("credential"), .insert, .update("algorithm", "changed_at"),
                for: "a new password in place of a forgotten one"),
            DatabaseRight(
                .table("mail_token"), .select, .insert, .update, .delete,
                for: "mails to those who forgot their password"),
            DatabaseRight(.table("trash_retention"), .select, for: "how long objects stay in the trash"),
            DatabaseRight(.table("trash_run"), .select, .insert, .update, .delete, for: "the history of the purge"),
            DatabaseRight(
                .table("trash_kept"), .select, .insert, .update, .delete, for: "what the purge couldn't delete, and why"
            ),
            DatabaseRight(.function("audit_copy(integer)"), .execute, for: "filling the audit log"),
            DatabaseRight(.function("audit_baseline(integer)"), .execute, for: "filling the audit log"),
            DatabaseRight(
                .function("audit_expire()"), .execute, for: "dropping what `tombolo.audit_retention` doesn't keep of it"
            ),
            DatabaseRight(.table("audit_entry"), .select, for: "showing the audit log"),
            DatabaseRight(.table("audit_position"), .select, for: "showing how far it is"),
            DatabaseRight(.table("audit_baseline"), .select, for: "showing how far it is"),
            DatabaseRight(.table("job"), .select, .insert, .update, .delete, for: "bulk actions and other long work"),
            DatabaseRight(
                .table("job_row"), .select, .insert, .update, .delete, for: "the objects of a job, and its undo"),
            DatabaseRight(.table("class"), .select("id", "name"), for: "which links keep objects out of the trash"),
            DatabaseRight(
                .table("changelog"), .select("seq", "xid", "class", "key", "root", "keys"),
                for: "which rows changed, never their values: when to count a list again"),
            DatabaseRight(.table("tick"), .select("number", "first_seq"), for: "which of these changes are old"),
            DatabaseRight(
                .table("class_column"), .select("class", "id", "name", "goes_along"),
                for: "which links keep objects out of the trash, and the properties of the audit log"),
            DatabaseRight(
                .table("client"), .select, for: "the list of devices"),
            DatabaseRight(
                .table("routine"), .select, .insert, .update, for: "noting what ran by itself, and the list of that"),
            DatabaseRight(.table("backup"), .select, .insert, .update, .delete, for: "the history of backups"),
            DatabaseRight(.table("restore"), .select, .insert, .update, .delete, for: "the history of restores"),
            DatabaseRight(.table("request_entry"), .select, .insert, .delete, for: "the log of requests"),
            DatabaseRight(.table("gateway"), .select, for: "the list of gateways"),
            DatabaseRight(
                .table("inspector_question"), .select, .insert, .delete, for: "asking gateways about their devices"),
            DatabaseRight(.table("inspector_answer"), .select, for: "what they answer"),
            DatabaseRight(
                .table("account"), .insert("email"), .update("disabled_at", "verified_at", "second_factor_at"),
                for: "adding, disabling and enabling accounts, verified addresses, and who has a second factor"),
            DatabaseRight(
                .table("second_factor"), .select, .insert, .update, .delete, for: "codes of authenticator apps"),
            DatabaseRight(
                .table("recovery_code"), .select, .insert, .update("used_at"), .delete,
                for: "codes for those whose phone is gone"),
            DatabaseRight(
                .table("token_generation"), .insert, .update,
                for: "ending the logins of an account that is enabled again"),
            DatabaseRight(
                .table("panel_session"), .select, .insert, .update("token_hash", "used_at", "proved_at"),
                for: "sessions of the panel, by their cookies"),
            DatabaseRight(
                .table("panel_viewing"), .select, .insert("session_id", "user_id", "viewed"), .update("ended_at"),
                for: "who looks at the panel as whom, for the audit log"),
            DatabaseRight(
                .table("panel_backup"), .insert("user_id", "act", "backup"),
                for: "who makes, downloads and deletes backups, for the audit log"),
            DatabaseRight(
                .table("panel_restore"), .insert("user_id", "act", "source"),
                for: "who restores backups, and deletes databases that were put aside, for the audit log"),
            DatabaseRight(
                .table("panel_run"), .insert("user_id", "routine"),
                for: "who has scheduled jobs run, for the audit log"),
            DatabaseRight(
                .table("setting"), .select, .insert("name", "number", "value", "shown", "user_id"),
                for: "settings that super administrators change in the panel"),
            DatabaseRight(
                .table("panel_view"), .select, .insert, .update("query"), .delete,
                for: "lists that users of the panel keep by a name"),
        ] + loginRights)

    /// Ordinary services, which read and write the rows of classes with their own SQL.
    public static let services = DatabaseRole(
        name: "app", program: "other services",
        rights: [
            DatabaseRight(
                .classes, .select, .insert, .update, .delete,
                for: "the rows of apps; an app's extension may keep columns from `UPDATE`"),
            DatabaseRight(.schema("tombolo"), .usage, for: "checking access tokens"),
        ]
            + AuthenticationSchema.tokenTables.map {
                DatabaseRight(.table(String($0.dropFirst("tombolo.".count))), .select, for: "checking access tokens")
            })

    /// What a server needs to log people in, with any provider, and to check access tokens, like
    /// `Routes.addLogin(_:)`.
    public static let loginRights = [
        DatabaseRight(.schema("tombolo"), .usage, for: "everything below"),
        DatabaseRight(.table("document"), .select, for: "models and rules"),
        DatabaseRight(.table("database_role"), .select, for: "the check of its rights at the start"),
        DatabaseRight(
            .table("account"), .select, .insert("id", "display_name"),
            for: "log-ins; the first one of an outside or anonymous user makes an account"),
        DatabaseRight(
            .table("credential"), .select,
            .update("rounds", "block_size", "parallelism", "salt", "key", "is_unused"),
            for: "checking passwords, and storing a stronger hash"),
        DatabaseRight(.table("token_generation"), .select, for: "revoked tokens"),
        DatabaseRight(.table("login_session"), .select, .insert, .update, .delete, for: "log-ins"),
        DatabaseRight(.table("refresh_token"), .select, .insert, .update, for: "log-ins"),
        DatabaseRight(.table("signing_key"), .select, .insert, for: "tokens; the first log-in makes a key"),
        DatabaseRight(.table("signing_key_secret"), .select, .insert, for: "signing tokens"),
        DatabaseRight(.table("provider"), .select, for: "which providers people may log in with"),
        DatabaseRight(
            .table("identity"), .select, .insert, .update("profile"), for: "log-ins of outside issuers' users"),
        DatabaseRight(.table("api_key"), .select, for: "log-ins with API keys"),
        attempts, author,
    ]

    private static let attempts = DatabaseRight(
        .table("attempt"), .select, .insert, .update, .delete,
        for: "failed log-ins and mails, which servers count together")

    private static let author = DatabaseRight(
        .function("name_author(text, text, text, text)"), .execute, for: "the audit log: who makes a change")

    /// What a server additionally needs to manage accounts.
    private static let accountRights = [
        DatabaseRight(
            .table("account"), .select, .insert, .update, .delete, for: "registration, and users' own accounts"),
        DatabaseRight(.table("credential"), .select, .insert, .update, for: "passwords"),
        DatabaseRight(.table("token_generation"), .select, .insert, .update, for: "revoking tokens"),
        DatabaseRight(.table("login_session"), .select, .insert, .update, .delete, for: "log-ins"),
        DatabaseRight(.table("refresh_token"), .select, .insert, .update, for: "log-ins"),
        DatabaseRight(.table("signing_key"), .select, .insert, for: "tokens; the first log-in makes a key"),
        DatabaseRight(.table("signing_key_secret"), .select, .insert, for: "signing tokens"),
        DatabaseRight(.table("provider"), .select, for: "which providers people may log in with"),
        DatabaseRight(.table("identity"), .select, .insert, .update, for: "users of outside issuers"),
        DatabaseRight(.table("api_key"), .select, .insert, .update, .delete, for: "users' API keys"),
        DatabaseRight(.table("mail_token"), .select, .insert, .update, .delete, for: "mails that confirm and reset"),
        DatabaseRight(
            .table("second_factor"), .select("user_id", "secret", "last_step"), .update("last_step"),
            for: "the codes that changes of an account take"),
        DatabaseRight(.table("recovery_code"), .select, .update("used_at"), for: "a recovery code in its place"),
        attempts, author,
    ]
}
