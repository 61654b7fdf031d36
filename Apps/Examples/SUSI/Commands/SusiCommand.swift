import ArgumentParser

/// `susi`: the chat from the article about Realm in an assistant app, without a user interface.
@main
struct SusiCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "susi",
        abstract: "Talks with a SUSI server, and keeps the conversation on this device.",
        discussion: """
            Every action of an answer becomes one message, with data of its own for the types answer, websearch, rss, \
            table, map, anchor, stop, video_play and audio_play. Other actions, and actions with values that cannot be \
            read, are kept as JSON beside what was understood. What a server sends cannot be wrong in a way that \
            stops the program: a value that cannot be read is replaced by its default (a map's zoom by 13, its place \
            by 0, 0; a date by the time of receipt; a count by "all"), and a note says so. An answer is stored as a \
            whole or not at all.

            Messages are in the order of their questions' dates, and where these are the same, of their arrival.

              susi import answer.json history.json
              susi show
              susi ask "where is Berlin" --server https://susi.example.org
              susi memory --server https://susi.example.org
              susi sign-out

            The environment variable SUSI_SERVER stands for --server, and SUSI_ACCESS_TOKEN has the token of a user \
            whom the server knows.
            """,
        subcommands: [
            ImportCommand.self, ShowCommand.self, AskCommand.self, RetryCommand.self, MemoryCommand.self,
            SignOutCommand.self,
        ])
}
