import ArgumentParser

/// Runs a ``BareServer`` and prints `port NUMBER`. In response to `send COUNT RATE FIRST FILE`, it sends, writes
/// pairs of Int64 to the file (a commit's number and when it was sent), and prints `sent`.
struct BareServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "bare-server", shouldDisplay: false)

    func run() async throws {
        try OpenFiles.allow(OpenFiles.wanted)
        let server = BareServer()
        Lines.say("port \(try await server.start())")
        for await line in Lines.received() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 5, words[0] == "send", let count = Int(words[1]), let rate = Double(words[2]),
                let first = Int(words[3])
            else { throw BenchError("Unknown command '\(line)'.") }
            let times = try await server.send(count, perSecond: rate, firstCommit: first)
            let pairs = times.enumerated().flatMap { [Int64(first + $0.offset), $0.element] }
            try PairFile.write(pairs, to: words[4])
            Lines.say("sent")
        }
    }
}
