import ArgumentParser
import Foundation
import Tombolo
import TomboloModel

/// Goes over all people of a file, reading a property of each, and says `memory IDLE GREATEST` in bytes; `memory`
/// alone where the system does not tell.
struct ObjectStoreMemoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "object-store-memory", shouldDisplay: false)

    @OptionGroup var options: ObjectStoreOptions

    func run() throws {
        let store: any PeopleStore =
            options.side == .tombolo ? try TomboloPeople(path: options.file) : try RawPeople(path: options.file)
        // What the first use of everything needs, such as the column's metadata, is idle memory.
        _ = try store.lookUp([0])
        guard let idle = ProcessUsage.forgetGreatestResidentBytes() else { return Lines.say("memory") }
        _ = try store.readAll()
        Lines.say("memory \(idle) \(ProcessUsage.greatestResidentBytes() ?? 0)")
    }
}
