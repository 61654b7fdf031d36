import ArgumentParser
import Foundation
import Tombolo
import TomboloModel

/// Iterates over all people of a file, reading a property of each, and prints `memory IDLE GREATEST` in bytes, or
/// just `memory` if the system doesn't report it.
struct ObjectStoreMemoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "object-store-memory", shouldDisplay: false)

    @OptionGroup var options: ObjectStoreOptions

    func run() throws {
        let store: any PeopleStore =
            options.side == .tombolo ? try TomboloPeople(path: options.file) : try RawPeople(path: options.file)
        // Memory for one-time initialization, such as the columns' metadata, counts as idle.
        _ = try store.lookUp([0])
        guard let idle = ProcessUsage.forgetGreatestResidentBytes() else { return Lines.say("memory") }
        _ = try store.readAll()
        Lines.say("memory \(idle) \(ProcessUsage.greatestResidentBytes() ?? 0)")
    }
}
