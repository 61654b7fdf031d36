import ArgumentParser

/// The entry point; see `migration-tool --help`.
@main
struct MigrationTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migration-tool",
        abstract: "Updates a PostgreSQL database to match an app's models, and manages accounts.",
        discussion: """
            The app exports its models as a document, which you pass with --models. First run 'plan' to see what is \
            missing, then 'apply' to add it. Nothing here deletes data: what can't be added is reported and left to \
            you. Every command can be repeated.

            Pass the database in --database-url or TOMBOLO_DATABASE_URL, such as
            postgresql://tombolo:PASSWORD@127.0.0.1:5432/tombolo. Connect as the role that owns the tables.

            'codemod' is a different kind of migration and needs no database: it rewrites the source of Realm models.

            Exit codes: 0 done, 1 failed (the message says what to do), 64 wrong usage. 'codemod' also \
            exits with 2; see its help.
            """,
        subcommands: [
            Plan.self, Apply.self, Status.self, RulesCommand.self, Audit.self, Models.self, Adopt.self, User.self,
            Keys.self, Providers.self, ServerKeys.self, RewriteModels.self,
        ])
}
