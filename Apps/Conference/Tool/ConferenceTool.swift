import ArgumentParser

/// The entry point; see `conference --help`.
@main
struct ConferenceTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conference",
        abstract: "Sets up the event platform's database, fills it, and assigns roles.",
        discussion: """
            'setup' creates tables, rules and triggers, and brings an older database up to date. Every command can be \
            repeated. To create attendees' accounts, use 'migration-tool user'.

            Pass the database in --database-url or TOMBOLO_DATABASE_URL, such as
            postgresql://tombolo:PASSWORD@127.0.0.1:5432/tombolo. Connect as the role that owns the tables.

            Exit codes: 0 done, 1 failed (the message says what to do), 64 wrong usage. 'import open-event' also exits \
            with 2; see its help.
            """,
        subcommands: [Setup.self, Import.self, Sample.self, AddStaff.self])
}
