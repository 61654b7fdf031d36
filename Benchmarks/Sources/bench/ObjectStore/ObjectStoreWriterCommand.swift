import ArgumentParser
import Foundation

/// Says `ready`, changes as many people of a file as each line says, and answers `wrote NANOSECONDS`.
struct ObjectStoreWriterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "object-store-writer", shouldDisplay: false)

    @Option var file: String
    @Option var objects: Int

    func run() throws {
        let writer = try PeopleWriter(path: file, objects: objects, seed: 2)
        Lines.say("ready")
        while let line = readLine() {
            guard let count = Int(line) else { throw BenchError("'\(line)' is no count.") }
            Lines.say("wrote \(try writer.change(count))")
        }
    }
}
