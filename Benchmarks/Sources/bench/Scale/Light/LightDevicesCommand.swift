import ArgumentParser

/// Light devices, controlled through standard input. The commands and their responses:
/// - `connect COUNT WINDOW` and `reconnect`: `connected SECONDS FAILURES TEXT`
/// - `drop`: `dropped`
/// - `report FILE`: `written LOST WRONG BYTES TEXT`. The file has pairs of Int64: a commit's number, and when a
///   device received it.
struct LightDevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "light-devices", shouldDisplay: false)

    @Option var port: Int
    /// One for each user.
    @Option var token: [String]
    @Option var wish: ScaleWish

    func run() async throws {
        try OpenFiles.allow(OpenFiles.wanted)
        let crew = LightCrew(port: port, wish: wish, tokens: token)
        for await line in Lines.received() {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "connect": Self.say(await crew.connect(Int(words[1]) ?? 0, window: Int(words[2]) ?? 1))
            case "reconnect": Self.say(await crew.reconnect())
            case "drop":
                await crew.drop()
                Lines.say("dropped")
            case "report":
                let report = await crew.report()
                try PairFile.write(report.arrivals, to: words[1])
                Lines.say(
                    "written \(report.lostCount) \(report.wrongCount) \(report.byteCount) \(report.firstFailure)")
            default: throw BenchError("Unknown command '\(line)'.")
            }
        }
    }

    private static func say(_ outcome: LightCrew.Outcome) {
        let failure = outcome.firstFailure.replacing("\n", with: " ")
        Lines.say("connected \(outcome.seconds) \(outcome.failureCount) \(failure)")
    }
}
