import ArgumentParser

/// The entry point; see `tombolo --help`.
@main
struct TomboloCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tombolo",
        abstract: "Runs the servers for development, and asks gateways about their devices.",
        discussion: """
            Without a subcommand, it runs the servers, with the options of 'tombolo run'.

            Exit codes: 0 done, 1 failed (the message says what to do), 64 wrong usage.
            """,
        subcommands: [RunServers.self, Inspect.self], defaultSubcommand: RunServers.self)
}
