import Foundation
import RandomValues
import Testing
import TomboloModel

@testable import Tombolo

@Suite("Kinds of properties")
struct PropertyKindTests {
    private static let types: [Object.Type] = [
        ScalarKinds.self, MixedKinds.self, DecimalKinds.self, Room.self,
    ]
    private static let count = 60

    private func check<Kind: KindsBase>(_ type: Kind.Type, synced: Bool) throws {
        let folder = try TemporaryFolder()
        let configuration = folder.configuration(synced: synced, types: Self.types)
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var expected: [[String]] = []
        do {
            let realm = try Realm(configuration: configuration)
            var objects: [Kind] = []
            try realm.write {
                for number in 0..<Self.count {
                    let object = Kind()
                    object._id = number
                    // The first ones keep their declared values, some of which are random.
                    if number > 2 { object.fill(&random) }
                    expected.append(object.content)
                    realm.add(object)
                    objects.append(object)
                }
            }
            #expect(objects.map(\.content) == expected, "as added, seed \(seed)")
        }
        let realm = try Realm.fresh(configuration)
        let results = realm.objects(type).sorted(byKeyPath: "_id")
        var read: [[String]] = []
        for object in results { read.append(object.content) }
        #expect(read == expected, "read in a loop, seed \(seed)")
        #expect(Array(results).map(\.content) == expected, "kept by a loop, seed \(seed)")
        #expect(
            (0..<Self.count).map { realm.object(ofType: type, forPrimaryKey: $0)?.content } == expected,
            "found by key, seed \(seed)")
        #expect((0..<Self.count).map { results[$0].content } == expected, "by position, seed \(seed)")
    }

    @Test("Scalars of every type are stored, including inherited ones", arguments: [false, true])
    func scalars(synced: Bool) throws { try check(ScalarKinds.self, synced: synced) }

    @Test("Decimal numbers are stored", arguments: [false, true])
    func decimals(synced: Bool) throws { try check(DecimalKinds.self, synced: synced) }

    @Test("Columns around lists, embedded objects, links and ignored properties are stored", arguments: [false, true])
    func mixed(synced: Bool) throws { try check(MixedKinds.self, synced: synced) }

    @Test("A managed object releases its unmanaged values and keeps ignored properties")
    func released() throws {
        let folder = try TemporaryFolder()
        let realm = try Realm(configuration: folder.configuration(types: Self.types))
        let object = MixedKinds()
        object.ignored = "mine"
        object.own = 9
        object.middle = String(repeating: "long ", count: 100)
        try realm.write { realm.add(object) }
        #expect(object.ignored == "mine")
        #expect(object.own == 9)
        #expect(object.middle == String(repeating: "long ", count: 100))
        try realm.write { object.middle = "other" }
        #expect(realm.objects(MixedKinds.self).first?.middle == "other")
    }

    @Test("A doomed transaction still shows what was set in it, and is undone")
    func failedTransaction() throws {
        let folder = try TemporaryFolder()
        let realm = try Realm(configuration: folder.configuration(types: Self.types))
        try realm.write { for number in 0..<3 { realm.create(ScalarKinds.self, value: ["_id": number]) } }
        #expect(throws: (any Error).self) {
            try realm.write {
                for object in realm.objects(ScalarKinds.self) {
                    object.text = "a\0b"
                    object.int = 5
                    #expect(object.int == 5)
                    #expect(object.text == "declared")
                }
            }
        }
        #expect(realm.objects(ScalarKinds.self).map(\.int) == [0, 0, 0])
    }
}
