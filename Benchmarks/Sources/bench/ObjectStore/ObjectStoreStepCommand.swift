import ArgumentParser
import Foundation
import Tombolo

/// Runs a step on a file several times and prints `times JSON`.
struct ObjectStoreStepCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "object-store-step", shouldDisplay: false)

    @OptionGroup var options: ObjectStoreOptions
    @Option var step: ObjectStoreStep
    /// The number of transactions or look-ups.
    @Option var count: Int
    @Option var warm: Int

    @MainActor
    func run() async throws {
        var samples: [ObjectStoreTimes.Sample] = []
        if step == .open {
            for _ in 0...warm { samples.append(try open()) }
        } else {
            let store = try await store()
            for round in 0...warm { samples.append(try sample(store, round)) }
        }
        let times = ObjectStoreTimes(cold: samples.removeFirst(), warm: samples)
        Lines.say("times " + String(decoding: try JSONEncoder().encode(times), as: UTF8.self))
    }

    @MainActor
    private func store() async throws -> any PeopleStore {
        guard options.side == .tombolo else { return try RawPeople(path: options.file) }
        guard step == .insertSynced else { return try TomboloPeople(path: options.file) }
        let store = try TomboloPeople(path: options.file, user: try await OfflineUser.login())
        store.realm.syncSession?.suspend()
        return store
    }

    private func sample(_ store: any PeopleStore, _ round: Int) throws -> ObjectStoreTimes.Sample {
        switch step {
        case .insert, .insertSynced:
            let people = (0..<options.objects).map { PersonValues(round * options.objects + $0) }
            return try measureChange(of: store) { try store.insert(people) }
        case .transactions:
            let people = (0..<count).map { PersonValues(round * count + $0) }
            return try measureChange(of: store) { try store.insertOneByOne(people) }
        case .count: return try measure { try store.count(olderThan: PersonValues.ageCount / 2 + round) }
        case .read: return try measure { try store.readAll() }
        case .lookUp:
            var random = SplitMix(state: UInt64(round))
            let keys = (0..<count).map { _ in Int.random(in: 0..<options.objects, using: &random) }
            return try measure { try store.lookUp(keys) }
        case .update:
            var sample = try measureChange(of: store) { try store.raiseScores() }
            sample.check = try store.firstByScore(ObjectStoreStep.firstCount)
            return sample
        case .delete:
            let first = round * ObjectStoreStep.fifth
            return try measureChange(of: store) { try store.delete(ages: first..<first + ObjectStoreStep.fifth) }
        case .sort: return try measure { try store.firstByScore(ObjectStoreStep.firstCount) }
        case .open, .memory, .allocations, .notifications:
            throw BenchError("'\(step.rawValue)' isn't a step on an open file.")
        }
    }

    /// Opens the file, reads nothing, and closes it again. Closing isn't measured.
    private func open() throws -> ObjectStoreTimes.Sample {
        var store: (any PeopleStore)?
        let sample = try measure {
            store =
                options.side == .tombolo ? try TomboloPeople(path: options.file) : try RawPeople(path: options.file)
            return 0
        }
        return withExtendedLifetime(store) { sample }
    }

    private func measureChange(of store: any PeopleStore, _ body: () throws -> Void) throws -> ObjectStoreTimes.Sample {
        var sample = try measure {
            try body()
            return 0
        }
        sample.check = try store.rowCount()
        return sample
    }

    private func measure(_ body: () throws -> Int) throws -> ObjectStoreTimes.Sample {
        let cpuStart = Monotonic.processCPUNanoseconds
        let start = Monotonic.nanoseconds
        let check = try body()
        let end = Monotonic.nanoseconds
        return ObjectStoreTimes.Sample(
            milliseconds: Double(end - start) / 1e6,
            cpuMilliseconds: Double(Monotonic.processCPUNanoseconds - cpuStart) / 1e6, check: check)
    }
}
