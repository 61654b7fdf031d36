import ArgumentParser

/// Entry point: `migration-tool --help` says the rest.
@main
struct MigrationTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migration-tool",
        abstract: "Brings a PostgreSQL database to what Tombolo's event models ask for, and fills it.",
        discussion: """
            First 'plan' shows what is missing, then 'apply' adds it. Nothing here deletes data: what cannot be added \
            is reported and left to you. Every command may be repeated.

            The database is named by --database-url or TOMBOLO_DATABASE_URL, as in
            postgresql://tombolo:PASSWORD@127.0.0.1:5432/tombolo. Connect as the role that owns the tables.

            'codemod' is another kind of migration and needs no database: it rewrites the source of Realm models.

            Exit codes: 0 done, 1 failed (the message says what to do), 64 wrong usage. 'import open-event' and \
            'codemod' also exit with 2, which their help explains.
            """,
        subcommands: [Plan.self, Apply.self, Status.self, Import.self, Sample.self, User.self, RewriteModels.self])
}
