import ArgumentParser

/// `susi`: the chat from the article about Realm in an assistant app, without a user interface.
@main
struct SusiCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "susi",
        abstract: "Talks to a SUSI server and keeps the conversation on this device.",
        discussion: """
            Every action of an answer becomes one message, with its own data for the types answer, websearch, rss, \
            table, map, anchor, stop, video_play and audio_play. Other actions, and actions with values that can't be \
            read, are also kept as JSON. Nothing that a server sends stops the program: a value that can't be read is \
            replaced by its default (a map's zoom by 13, its place by 0, 0; a date by the time of receipt; a count by \
            "all"), with a note. An answer is stored completely or not at all.

            Messages are ordered by their questions' dates, then by arrival.

              susi import answer.json history.json
              susi show
              susi ask "where is Berlin" --server https://susi.example.org
              susi memory --server https://susi.example.org
              susi sign-out

            The environment variable SUSI_SERVER is the default for --server. SUSI_ACCESS_TOKEN is the token of a user \
            whom the server knows.
            """,
        subcommands: [
            ImportCommand.self, ShowCommand.self, AskCommand.self, RetryCommand.self, MemoryCommand.self,
            SignOutCommand.self,
        ])
}
