import Foundation
import RandomValues
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSQLiteStore

@testable import Tombolo

@Suite("Lists")
struct ListTests {
    let folder: TemporaryFolder
    let realm: Realm

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(configuration: folder.configuration(synced: true))
    }

    private func speaker(_ id: Int) -> Speaker { Speaker(value: ["_id": "s\(id)", "name": "\(id)"]) }

    @Test(
        "A list behaves like an array under any inserts and removals", arguments: 1...4 as ClosedRange<UInt64>)
    func likeAnArray(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let session = Session(1, "One")
        var expected: [String] = []
        try realm.write { realm.add(session) }
        for round in 0..<40 {
            try realm.write {
                for _ in 0..<Int.random(in: 1...6, using: &generator) {
                    let next = Int.random(in: 0..<1_000_000, using: &generator)
                    switch Int.random(in: 0..<10, using: &generator) {
                    case 0..<3:
                        session.speakers.append(speaker(next))
                        expected.append("s\(next)")
                    case 3..<6:
                        let position = Int.random(in: 0...expected.count, using: &generator)
                        session.speakers.insert(speaker(next), at: position)
                        expected.insert("s\(next)", at: position)
                    case 6..<7:
                        session.speakers.append(objectsIn: [speaker(next), speaker(next + 1_000_000)])
                        expected += ["s\(next)", "s\(next + 1_000_000)"]
                    case 7..<9 where !expected.isEmpty:
                        let position = Int.random(in: 0..<expected.count, using: &generator)
                        session.speakers.remove(at: position)
                        expected.remove(at: position)
                    case 9 where round % 10 == 0:
                        session.speakers.removeAll()
                        expected = []
                    default: break
                    }
                    #expect(session.speakers.count == expected.count, "seed \(seed)")
                }
                #expect(session.speakers.map(\._id) == expected, "seed \(seed), in the transaction")
            }
            #expect(session.speakers.map(\._id) == expected, "seed \(seed)")
            let other = try Realm.fresh(folder.configuration(synced: true))
            #expect(other.objects(Session.self)[0].speakers.map(\._id) == expected, "seed \(seed), other Realm")
        }
    }

    @Test("A list obtained before its object was added becomes the managed one")
    func heldList() throws {
        let session = Session(1, "One")
        let list = session.speakers
        list.append(speaker(1))
        try realm.write {
            realm.add(session)
            list.append(speaker(2))
        }
        #expect(list.map(\._id) == ["s1", "s2"])
        #expect(session.speakers.map(\._id) == ["s1", "s2"])
        try realm.write { session.speakers = List() }
        #expect(list.isEmpty)
    }

    @Test("The same object may be in a list twice")
    func twice() throws {
        let ada = speaker(1)
        let session = Session(1, "One")
        try realm.write {
            realm.add(session)
            session.speakers.append(objectsIn: [ada, ada])
        }
        #expect(session.speakers.map(\._id) == ["s1", "s1"])
        try realm.write { session.speakers.remove(at: 0) }
        #expect(session.speakers.count == 1)
    }

    @Test("A list makes room between elements of equal rank")
    func equalRanks() throws {
        let session = Session(1, "One")
        try realm.write {
            realm.add(session)
            realm.add((1...3).map(speaker))
        }
        let elements = try #require(realm.core.schema.index(of: "Session.speakers"))
        try realm.write {
            for number in 1...3 {
                _ = realm.core.insert(
                    realm.core.classes[elements], key: .objectId(ObjectId(high: 1, low: UInt32(number))),
                    [
                        FieldWrite(column: ElementColumn.owner, value: .int(1)),
                        FieldWrite(column: ElementColumn.rank, value: .string("a0")),
                        FieldWrite(column: ElementColumn.target, value: .string("s\(number)")),
                    ])
            }
        }
        #expect(session.speakers.map(\._id) == ["s1", "s2", "s3"])
        try realm.write { session.speakers.insert(speaker(9), at: 1) }
        #expect(session.speakers.map(\._id) == ["s1", "s9", "s2", "s3"])
    }

    @Test("An element whose object isn't on the device is hidden until the object arrives")
    func hiddenElements() throws {
        let session = Session(1, "One")
        try realm.write {
            realm.add(session)
            session.speakers.append(objectsIn: (1...3).map(speaker))
        }
        try realm.write { realm.delete(session.speakers[1]) }
        #expect(session.speakers.map(\._id) == ["s1", "s3"])
        try realm.write { realm.add(speaker(2)) }
        #expect(session.speakers.map(\._id) == ["s1", "s2", "s3"])
    }

    @Test("Emptying or replacing a list removes hidden elements too")
    func hiddenElementsRemoved() throws {
        let session = Session(1, "One")
        try realm.write { realm.add(session) }
        let removals: [(Session) -> Void] = [
            { $0.speakers.removeAll() }, { $0.speakers = List() }, { $0.setValue([Speaker](), forKey: "speakers") },
            { [realm] session in
                let value: [String: Any] = ["_id": session._id, "speakers": [Speaker]()]
                realm.create(Session.self, value: value, update: .all)
            },
        ]
        for visible in 1...2 {
            for removal in removals {
                try realm.write { session.speakers.append(objectsIn: (1...visible).map(speaker)) }
                try realm.write { realm.delete(session.speakers[0]) }
                #expect(session.speakers.count == visible - 1)
                try realm.write { removal(session) }
                try realm.write { realm.add(speaker(1), update: .modified) }
                #expect(session.speakers.isEmpty)
                let elements = try realm.core.connection.integer("SELECT count(*) FROM session_speakers")
                #expect(elements == 0)
                try realm.write { realm.delete(realm.objects(Speaker.self)) }
            }
        }
    }

    @Test("Deleting an object deletes its elements and leaves the linked objects")
    func deletingTheOwner() throws {
        let session = Session(1, "One")
        try realm.write {
            realm.add(session)
            session.speakers.append(objectsIn: (1...3).map(speaker))
        }
        try realm.write { realm.delete(session) }
        let elements = try realm.core.connection.integer("SELECT count(*) FROM session_speakers")
        #expect(elements == 0)
        #expect(realm.objects(Speaker.self).count == 3)
    }
}
