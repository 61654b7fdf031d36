import ArgumentParser

/// The entry point; see `migration-tool --help`.
@main
struct MigrationTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migration-tool",
        abstract: "Updates a PostgreSQL database to match an app's models, and manages accounts.",
        discussion: """
            The app exports its models as a document, which --models names. First 'plan' shows what is missing, then \
            'apply' adds it. Nothing here deletes data: what cannot be added is reported and left to you. Every \
            command may be repeated.

            The database is named by --database-url or TOMBOLO_DATABASE_URL, as in
            postgresql://tombolo:PASSWORD@127.0.0.1:5432/tombolo. Connect as the role that owns the tables.

            'codemod' is another kind of migration and needs no database: it rewrites the source of Realm models.

            Exit codes: 0 done, 1 failed (the message says what to do), 64 wrong usage. 'codemod' also \
            exits with 2, which its help explains.
            """,
        subcommands: [
            Plan.self, Apply.self, Status.self, RulesCommand.self, Audit.self, Models.self, Adopt.self, User.self,
            Keys.self, Providers.self, ServerKeys.self, RewriteModels.self,
        ])
}
