import ArgumentParser
import CAllocationCount
import Foundation
import Tombolo
import TomboloModel

/// Counts allocations and prints `allocations JSON`, by operation.
struct ObjectStoreAllocationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "object-store-allocations", shouldDisplay: false)
    /// Repetitions of reading one property.
    private static let readCount = 1_000

    @OptionGroup var options: ObjectStoreOptions

    func run() throws {
        var counts: [String: Double] = [:]
        switch options.side {
        case .tombolo: try countTombolo(&counts)
        case .raw: try countRaw(&counts)
        }
        Lines.say("allocations " + String(decoding: try JSONEncoder().encode(counts), as: UTF8.self))
    }

    private func countTombolo(_ counts: inout [String: Double]) throws {
        let store = try TomboloPeople(path: options.file)
        let realm = store.realm
        let people = realm.objects(StorePerson.self)
        // The first time also prepares statements and creates metadata.
        _ = store.readAll()
        counts["row fetched"] = perOne(options.objects) {
            for person in people { withExtendedLifetime(person) {} }
        }
        counts["row fetched, Int and String read"] = perOne(options.objects) { _ = store.readAll() }
        if let person = people.first {
            counts["Int read"] = perOne(Self.readCount) {
                for _ in 0..<Self.readCount { withExtendedLifetime(person.age) {} }
            }
            counts["String read"] = perOne(Self.readCount) {
                for _ in 0..<Self.readCount { withExtendedLifetime(person.name) {} }
            }
        }
        let keys = Array(0..<Self.readCount)
        counts["look-up by key"] = perOne(keys.count) { _ = store.lookUp(keys) }
        try store.insert([PersonValues(options.objects)])
        let added = (1...options.objects).map { PersonValues(options.objects + $0) }
        counts["object created and stored"] = try perOne(added.count) { try store.insert(added) }
    }

    private func countRaw(_ counts: inout [String: Double]) throws {
        let store = try RawPeople(path: options.file)
        _ = try store.readAll()
        counts["row fetched, Int and String read"] = try perOne(options.objects) { _ = try store.readAll() }
        let keys = Array(0..<Self.readCount)
        counts["look-up by key"] = try perOne(keys.count) { _ = try store.lookUp(keys) }
        try store.insert([PersonValues(options.objects)])
        let added = (1...options.objects).map { PersonValues(options.objects + $0) }
        counts["object created and stored"] = try perOne(added.count) { try store.insert(added) }
    }

    private func perOne(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        let start = allocation_count()
        try body()
        return Double(allocation_count() - start) / Double(count)
    }
}
