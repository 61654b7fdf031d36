import ArgumentParser
import Foundation

/// Prints `ready`. For each line of input, changes that number of people in a file and prints `wrote NANOSECONDS`.
struct ObjectStoreWriterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "object-store-writer", shouldDisplay: false)

    @Option var file: String
    @Option var objects: Int

    func run() throws {
        let writer = try PeopleWriter(path: file, objects: objects, seed: 2)
        Lines.say("ready")
        while let line = readLine() {
            guard let count = Int(line) else { throw BenchError("'\(line)' isn't a count.") }
            Lines.say("wrote \(try writer.change(count))")
        }
    }
}
