import ChildPrograms
import Foundation
import Testing
import TomboloModel

@testable import Tombolo
@testable import TomboloSQLiteStore

@Suite("Migrations of local files")
struct MigrationTests {
    let folder: TemporaryFolder

    private static let first: [ObjectBase.Type] = [R1.Person.self, R1.Place.self, R1.Note.self]
    private static let second: [ObjectBase.Type] = [R2.Person.self, R2.Place.self, R2.Note.self]

    init() throws { folder = try TemporaryFolder() }

    /// Ada lives at A and Bob at B; both are friends of Ada. A has two notes.
    private func fill() throws {
        let realm = try Realm(configuration: folder.release(0, Self.first))
        try realm.write {
            let a = realm.create(R1.Place.self, value: ["id": "A", "street": "First", "number": 1])
            let b = realm.create(R1.Place.self, value: ["id": "B", "street": "Second", "number": 2])
            let ada = realm.create(
                R1.Person.self, value: ["id": 1, "name": "Ada", "age": "36", "score": 1.5, "home": a])
            let bob = realm.create(R1.Person.self, value: ["id": 5, "name": "Bob", "home": b])
            ada.friends.append(objectsIn: [bob, ada])
            ada.tags.append(objectsIn: ["x", "y"])
            realm.create(R1.Note.self, value: ["text": "one", "place": a])
            realm.create(R1.Note.self, value: ["text": "two", "place": a])
        }
    }

    private func integrity() throws -> String {
        let connection = try SQLiteConnection(
            path: folder.url.appending(path: "release.sqlite").path, readOnly: true, durability: .full)
        let statement = try connection.statement("PRAGMA integrity_check")
        defer { statement.reset() }
        return try statement.step() ? statement.text(at: 0) : ""
    }

    private func refusal(_ configuration: Realm.Configuration) -> Realm.Error? {
        #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
    }

    // MARK: What needs a raised version

    @Test("Every difference is named in Realm's words, and the file is untouched")
    func messages() throws {
        try fill()
        let error = refusal(folder.release(0, Self.second))
        #expect(error?.code == .schemaMismatch)
        let expected = [
            "Migration is required due to the following errors:",
            "- Property 'Person.name' has been removed.", "- Property 'Person.fullName' has been added.",
            "- Property 'Person.age' has been changed from 'string' to 'int'.",
            "- Property 'Person.score' has been made required.", "- Property 'Person.level' has been added.",
            "- Property 'Person.friends' has been removed.", "- Property 'Person.mates' has been added.",
            "- Primary Key for class 'Place' has changed from 'id' to 'key'.",
            "- Primary Key for class 'Note' has been added.", "Raise schemaVersion",
        ]
        for line in expected { #expect(error?.message.contains(line) == true, "\(line) in \(error?.message ?? "")") }
        let realm = try Realm(configuration: folder.release(0, Self.first))
        #expect(realm.objects(R1.Person.self).count == 2)
        #expect(try integrity() == "ok")
    }

    @Test("Adding and removing classes and indexes needs no new version; a lower version is refused")
    func unversioned() throws {
        try fill()
        do {
            let realm = try Realm(
                configuration: folder.release(0, [R1.Place.self, Session.self, Speaker.self, Room.self]))
            #expect(realm.objects(R1.Place.self).count == 2)
        }
        _ = try Realm(configuration: folder.release(3, Self.first))
        let error = refusal(folder.release(2, Self.first))
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("Provided schema version 2 is less than last set version 3.") == true)
        #expect(try schemaVersionAtURL(folder.url.appending(path: "release.sqlite")) == 3)
    }

    @Test("A changed property type needs a migration block")
    func typeWithoutBlock() throws {
        try fill()
        let error = refusal(folder.release(1, Self.second))
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("'Person.age' has been changed from 'string' to 'int'") == true)
        #expect(error?.message.contains("migrationBlock") == true)
    }

    @Test("A class that became embedded is named in the error, and linked objects are copied into their owners")
    func embedded() throws {
        try fill()
        let error = refusal(folder.release(0, [R3.Person.self]))
        #expect(
            error?.message.contains("- Class 'Place' has been changed from top-level to embedded.") == true,
            "\(error?.message ?? "")")
        do {
            let realm = try Realm(configuration: folder.release(1, [R3.Person.self]) { _, _ in })
            let ada = try #require(realm.object(ofType: R3.Person.self, forPrimaryKey: 1))
            #expect(ada.home?.street == "First" && ada.home?.number == 1 && ada.home?.id == "A")
            #expect(ada.friends.map(\.name) == ["Bob", "Ada"])
        }
        // The table of places is gone, so the next opening finds no difference.
        _ = try Realm(configuration: folder.release(1, [R3.Person.self]))
        let back = refusal(folder.release(1, Self.first))
        #expect(
            back?.message.contains("- Class 'Place' has been changed from embedded to top-level.") == true,
            "\(back?.message ?? "")")
        #expect(try integrity() == "ok")
    }

    // MARK: What a block does

    @Test("Where a new embedded object doesn't exist, it has no values, even if the table is rebuilt")
    func newEmbedded() throws {
        try fill()
        let realm = try Realm(configuration: folder.release(1, [R5.Person.self]) { _, _ in })
        let people = realm.objects(R5.Person.self)
        #expect(people.count == 2 && people.allSatisfy { $0.office == nil })
        #expect(people.filter("office.floor == 0 OR office.desk.number == 0").isEmpty)
    }

    @Test("One migration can rename, convert and fill properties and change primary keys, keeping links")
    func wholeMigration() throws {
        try fill()
        let block: MigrationBlock = { migration, version in
            #expect(version == 0)
            #expect(migration.oldSchema["Person"]?.columnIndex("name") != nil)
            #expect(migration.newSchema["Person"]?.columnIndex("fullName") != nil)
            migration.renameProperty(onType: "Person", from: "name", to: "fullName")
            migration.renameProperty(onType: "Person", from: "friends", to: "mates")
            migration.enumerateObjects(ofType: "Person") { old, new in
                new?["age"] = (old?["age"] as? String).flatMap { Int($0) } ?? 99
                let home = old?["home"] as? MigrationObject
                #expect((new?["home"] as? MigrationObject)?["street"] as? String == home?["street"] as? String)
            }
            migration.enumerateObjects(ofType: "Note") { old, new in new?["key"] = "note \(old!["text"]!)" }
        }
        do {
            let realm = try Realm(configuration: folder.release(2, Self.second, block))
            let ada = try #require(realm.object(ofType: R2.Person.self, forPrimaryKey: 1))
            let bob = try #require(realm.object(ofType: R2.Person.self, forPrimaryKey: 5))
            #expect(ada.fullName == "Ada" && ada.age == 36 && ada.score == 1.5 && ada.level == 7)
            #expect(bob.age == 99 && bob.score == 0 && bob.level == 7 && ada.token != bob.token)
            #expect(ada.home?.id == "A" && bob.home?.street == "Second" && ada.home?.key != bob.home?.key)
            #expect(ada.mates.map(\.id) == [5, 1])
            #expect(Array(ada.tags) == ["x", "y"])
            let notes = realm.objects(R2.Note.self).sorted(byKeyPath: "key")
            #expect(notes.map(\.key) == ["note one", "note two"])
            #expect(notes.allSatisfy { $0.place?.id == "A" })
        }
        #expect(try integrity() == "ok")
        let again = try Realm(configuration: folder.release(2, Self.second))
        #expect(again.objects(R2.Place.self).count == 2)
    }

    @Test("A migration can create, delete and link objects while enumerating others")
    func createAndDelete() throws {
        try fill()
        let block: MigrationBlock = { migration, _ in
            var seen = 0
            migration.enumerateObjects(ofType: "Person") { old, new in
                seen += 1
                if old?["id"] as? Int == 1 {
                    migration.delete(new!)
                    migration.create("Person", value: ["id": 10, "name": "Cyd", "tags": ["z"]])
                } else {
                    let place = migration.create("Place", value: ["C", "Third", 3])
                    new?.home = place
                    new?["friends"] = [migration.create("Person", value: ["id": 11, "name": "Dot"])]
                    (new?["tags"] as? MigrationList)?.append("new")
                }
            }
            #expect(seen == 2)
            #expect(migration.deleteData(forType: "Note"))
            #expect(!migration.deleteData(forType: "Nothing"))
        }
        let realm = try Realm(configuration: folder.release(1, Self.first, block))
        let persons = realm.objects(R1.Person.self).sorted(byKeyPath: "id")
        #expect(persons.map(\.id) == [5, 10, 11])
        #expect(persons[0].home?.street == "Third" && persons[0].friends.map(\.name) == ["Dot"])
        #expect(Array(persons[0].tags) == ["new"] && Array(persons[1].tags) == ["z"])
        #expect(realm.objects(R1.Note.self).isEmpty)
        #expect(realm.objects(R1.Place.self).count == 3)
    }

    @Test("A removed class's data can be read once more, and its table dropped")
    func removedClass() throws {
        try fill()
        let block: MigrationBlock = { migration, _ in
            var texts: [String] = []
            migration.enumerateObjects(ofType: "Note") { old, new in
                #expect(new == nil)
                texts.append(old?["text"] as? String ?? "")
            }
            #expect(texts == ["one", "two"])
            migration.deleteData(forType: "Note")
        }
        _ = try Realm(configuration: folder.release(1, [R1.Person.self, R1.Place.self], block))
        let connection = try SQLiteConnection(
            path: folder.url.appending(path: "release.sqlite").path, durability: .full)
        #expect(try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = 'note'") == nil)
        #expect(try connection.integer("SELECT 1 FROM tombolo_class WHERE name = 'Note'") == nil)
    }

    @Test("Links follow a primary key that is set in the block; duplicates are refused")
    func keys() throws {
        try fill()
        let renumber: MigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Person") { old, new in new?["id"] = 100 + (old!["id"] as! Int) }
            migration.enumerateObjects(ofType: "Person") { old, new in
                #expect(new?["id"] as? Int == 100 + (old!["id"] as! Int))
            }
        }
        do {
            let realm = try Realm(configuration: folder.release(1, Self.first, renumber))
            #expect(realm.object(ofType: R1.Person.self, forPrimaryKey: 101)?.friends.map(\.id) == [105, 101])
        }
        let equal: MigrationBlock = { migration, _ in
            migration.renameProperty(onType: "Person", from: "name", to: "fullName")
            migration.renameProperty(onType: "Person", from: "friends", to: "mates")
            migration.enumerateObjects(ofType: "Person") { _, new in new?["age"] = 1 }
            migration.enumerateObjects(ofType: "Note") { _, new in new?["key"] = "same" }
        }
        let error = refusal(folder.release(2, Self.second, equal))
        #expect(
            error?.message.contains("Primary key property 'Note.key' has duplicate values after migration") == true,
            "\(error?.message ?? "")")
        #expect(try Realm(configuration: folder.release(1, Self.first)).objects(R1.Person.self).count == 2)
        #expect(try integrity() == "ok")
    }

    @Test("Objects with the smallest and the greatest integer key are migrated too")
    func extremeKeys() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, Self.first))
            try realm.write { for id in [Int.min, 0, Int.max] { realm.create(R1.Person.self, value: ["id": id]) } }
        }
        let rename: MigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Person") { _, new in new?["name"] = "seen" }
        }
        let realm = try Realm(configuration: folder.release(1, Self.first, rename))
        #expect(realm.objects(R1.Person.self).map(\.name) == ["seen", "seen", "seen"])
    }

    @Test("Old and new objects stay paired when keys change twice, or become keys of deleted objects")
    func changedKeys() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, Self.first))
            try realm.write {
                for (id, name) in [(1, "Ada"), (2, "Bob"), (3, "Cleo")] {
                    realm.create(R1.Person.self, value: ["id": id, "name": name])
                }
            }
        }
        let renumber: MigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Person") { old, new in
                let id = old!["id"] as! Int
                if id == 1 { migration.delete(new!) } else { new?["id"] = id - 1 }
            }
            migration.enumerateObjects(ofType: "Person") { _, new in new?["id"] = 10 + (new!["id"] as! Int) }
            migration.create("Person", value: ["id": 1, "name": "Dora"])
            migration.enumerateObjects(ofType: "Person") { old, new in new?["age"] = "was \(old!["id"] as! Int)" }
        }
        let realm = try Realm(configuration: folder.release(1, Self.first, renumber))
        let people = realm.objects(R1.Person.self).sorted(byKeyPath: "id")
        #expect(
            people.map { "\($0.id) \($0.name) \($0.age ?? "is new")" }
                == ["1 Dora is new", "11 Bob was 2", "12 Cleo was 3"])
    }

    @Test("Embedded objects can be set from dictionaries, including the lists inside them")
    func embeddedValues() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, [R3.Person.self]))
            try realm.write { realm.create(R3.Person.self, value: ["id": 1, "name": "Ada"]) }
        }
        let block: MigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Person") { _, new in
                #expect(new?["home"] == nil)
                new?["home"] = ["street": "Main", "rooms": [["size": 3], ["size": 4]]]
                let home = new?["home"] as? MigrationObject
                #expect(home?["number"] as? Int == 0)
                home?["number"] = 5
                let rooms = home?["rooms"] as? MigrationList
                #expect(rooms?.compactMap { ($0 as? MigrationObject)?["size"] as? Int } == [3, 4])
            }
        }
        let realm = try Realm(configuration: folder.release(1, [R3.Person.self], block))
        let home = try #require(realm.objects(R3.Person.self).first?.home)
        #expect(home.street == "Main" && home.number == 5 && home.rooms.map(\.size) == [3, 4])
    }

    // MARK: Failures

    private struct Stop: Error {}

    @Test("A migration adds objects of the app's classes once, with the objects they link to; keys reach properties")
    func typedObjects() throws {
        try fill()
        let configuration = folder.release(1, Self.first) { migration, _ in
            let place = R1.Place(value: ["id": "C", "street": "Third", "number": 3])
            let cleo = R1.Person(value: ["id": 7, "name": "Cleo", "home": place, "tags": ["z"]])
            cleo.friends.append(cleo)
            migration.enumerateObjects(ofType: "Person") { old, new in
                guard old?.value(forKey: "name") as? String == "Bob" else { return }
                new?.setValue("Rob", forKey: "name")
                new?["home"] = place
                new?["friends"] = [cleo]
                (new?["friends"] as? MigrationList)?.append(cleo)
            }
            migration.create("Note", value: R1.Note(value: ["text": "three", "place": place]))
        }
        let realm = try Realm(configuration: configuration)
        let rob = try #require(realm.objects(R1.Person.self).filter("name == 'Rob'").first)
        #expect(rob.home?.street == "Third" && rob.friends.map(\.name) == ["Cleo", "Cleo"])
        let cleo = rob.friends[0]
        #expect(cleo.home == rob.home && cleo.friends.first == cleo && Array(cleo.tags) == ["z"])
        #expect(realm.objects(R1.Place.self).count == 3 && realm.objects(R1.Person.self).count == 3)
        #expect(realm.objects(R1.Note.self).filter("place.id == 'C'").count == 1)
    }

    @Test("Embedded objects can be enumerated by class, in properties and in lists")
    func embeddedObjects() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, [R3.Person.self]))
            try realm.write {
                for id in 1...3 {
                    let home: [String: Any] = ["street": "Main", "number": id, "rooms": [["size": id], ["size": 10]]]
                    realm.create(R3.Person.self, value: ["id": id, "name": "Ada", "home": home])
                }
                realm.create(R3.Person.self, value: ["id": 4, "name": "Without"])
            }
        }
        let heard = Texts()
        let block: MigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Person") { _, new in
                guard let new else { return }
                if new["id"] as? Int == 1 { migration.delete(new) }
                if new["id"] as? Int == 2 { new["home"] = nil }
            }
            migration.enumerateObjects(ofType: "Place") { old, new in
                heard.append("\(old?.className ?? "") \(old?["number"] ?? "") \(new?["number"] ?? "none")")
                new?["street"] = "High"
            }
            migration.enumerateObjects(ofType: "Room") { old, new in
                guard let size = old?["size"] as? Int else { return }
                heard.append("Room \(size)")
                new?["size"] = size * 2
            }
        }
        let realm = try Realm(configuration: folder.release(1, [R3.Person.self], block))
        #expect(heard.all == ["Place 2 none", "Place 3 3", "Room 3", "Room 10"])
        let home = realm.object(ofType: R3.Person.self, forPrimaryKey: 3)?.home
        #expect(home?.street == "High" && home?.number == 3 && home?.rooms.map(\.size) == [6, 20])
        #expect(realm.objects(R3.Person.self).filter("home != nil").count == 1)
    }

    @Test("Renamed embedded objects and lists move with their contents, and are enumerated in their new place")
    func renamedEmbedded() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, [R6.Person.self]))
            let home: [String: Any] = ["street": "Main", "rooms": [["size": 1], ["size": 2]]]
            let first: [String: Any] = ["name": "a", "code": "A", "rooms": [["size": 10]]]
            let parts = [first, ["name": "b", "code": "B"]]
            try realm.write { realm.create(R6.Person.self, value: ["id": 1, "home": home, "parts": parts]) }
        }
        let heard = Texts()
        let block: MigrationBlock = { migration, _ in
            migration.renameProperty(onType: "Person", from: "parts", to: "pieces")
            migration.renameProperty(onType: "Person", from: "home", to: "address")
            migration.enumerateObjects(ofType: "Part") { old, new in
                heard.append("\(old?["name"] ?? "") \(new?["name"] ?? "none") \(new?["code"] ?? "none")")
                new?["level"] = 3
            }
            migration.enumerateObjects(ofType: "Place") { old, new in new?["street"] = "\(old?["street"] ?? "") 1" }
            migration.enumerateObjects(ofType: "Room") { old, new in new?["size"] = (old?["size"] as? Int ?? 0) * 2 }
            migration.enumerateObjects(ofType: "Person") { _, new in
                // A new element isn't mistaken for the one that it replaces.
                let pieces = new?["pieces"] as? MigrationList
                if let last = pieces?[1] as? MigrationObject { migration.delete(last) }
                pieces?.append(["name": "c", "code": "C"])
            }
            migration.enumerateObjects(ofType: "Part") { old, _ in heard.append("\(old?["name"] ?? "")") }
        }
        let realm = try Realm(configuration: folder.release(1, [R7.Person.self], block))
        #expect(heard.all == ["a a A", "b b B", "a"])
        let person = try #require(realm.object(ofType: R7.Person.self, forPrimaryKey: 1))
        #expect(person.pieces.map { "\($0.name) \($0.code) \($0.level)" } == ["a A 3", "c C 7"])
        #expect(person.pieces.first?.rooms.map(\.size) == [20])
        #expect(person.address?.street == "Main 1" && person.address?.rooms.map(\.size) == [2, 4])
        #expect(try integrity() == "ok")
    }

    @Test("Properties of embedded classes can be renamed wherever the objects are stored")
    func renamedInEmbedded() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, [R6.Person.self]))
            let home: [String: Any] = ["street": "Main", "rooms": [["size": 1], ["size": 2]]]
            let parts = [["name": "a", "code": "A"], ["name": "b", "code": "B"]]
            try realm.write {
                realm.create(R6.Person.self, value: ["id": 1, "home": home, "parts": parts])
                realm.create(R6.Person.self, value: ["id": 2])
            }
        }
        let block: MigrationBlock = { migration, _ in
            migration.renameProperty(onType: "Person", from: "parts", to: "pieces")
            migration.renameProperty(onType: "Part", from: "name", to: "title")
            migration.renameProperty(onType: "Place", from: "street", to: "road")
            migration.renameProperty(onType: "Place", from: "rooms", to: "halls")
            migration.enumerateObjects(ofType: "Room") { old, new in new?["size"] = (old?["size"] as? Int ?? 0) + 1 }
        }
        let error = refusal(
            folder.release(1, [R9.Person.self]) { migration, _ in
                migration.renameProperty(onType: "Place", from: "town", to: "road")
            })
        #expect(error?.message == "Cannot rename property 'Place.town' because it does not exist.")
        let realm = try Realm(configuration: folder.release(1, [R9.Person.self], block))
        let person = try #require(realm.object(ofType: R9.Person.self, forPrimaryKey: 1))
        #expect(person.pieces.map { "\($0.title) \($0.code)" } == ["a A", "b B"])
        #expect(person.home?.road == "Main" && person.home?.halls.map(\.size) == [2, 3])
        #expect(realm.object(ofType: R9.Person.self, forPrimaryKey: 2)?.home == nil)
        #expect(realm.objects(R9.Person.self).filter("home.road == ''").isEmpty)
    }

    private func fillEmbedded() throws {
        let realm = try Realm(configuration: folder.release(0, [R6.Person.self]))
        let home: [String: Any] = ["street": "Main", "rooms": [["size": 1], ["size": 2]]]
        let parts = [["name": "a", "code": "A"], ["name": "b", "code": "B"]]
        try realm.write { realm.create(R6.Person.self, value: ["id": 1, "home": home, "parts": parts]) }
    }

    @Test("Properties of embedded objects can be renamed before the list or property that holds them")
    func renamedBeforeHolder() throws {
        try fillEmbedded()
        let block: MigrationBlock = { migration, _ in
            migration.renameProperty(onType: "Part", from: "name", to: "title")
            migration.renameProperty(onType: "Place", from: "street", to: "road")
            migration.renameProperty(onType: "Place", from: "rooms", to: "halls")
            migration.renameProperty(onType: "Person", from: "home", to: "address")
            migration.renameProperty(onType: "Person", from: "parts", to: "pieces")
        }
        let realm = try Realm(configuration: folder.release(1, [R10.Person.self], block))
        let person = try #require(realm.object(ofType: R10.Person.self, forPrimaryKey: 1))
        #expect(person.pieces.map { "\($0.title) \($0.code)" } == ["a A", "b B"])
        #expect(person.address?.road == "Main" && person.address?.halls.map(\.size) == [1, 2])
        #expect(try integrity() == "ok")
    }

    @Test("In a file that skips a release, properties that only that release had are renamed")
    func renamedTwice() throws {
        try fillEmbedded()
        let block: MigrationBlock = { migration, _ in
            migration.renameProperty(onType: "Person", from: "parts", to: "bits")
            migration.renameProperty(onType: "Part", from: "name", to: "label")
            migration.renameProperty(onType: "Place", from: "street", to: "way")
            migration.renameProperty(onType: "Part", from: "label", to: "title")
            migration.renameProperty(onType: "Person", from: "bits", to: "pieces")
            migration.renameProperty(onType: "Person", from: "home", to: "address")
            migration.renameProperty(onType: "Place", from: "way", to: "road")
        }
        let error = refusal(
            folder.release(1, [R10.Person.self]) { migration, _ in
                migration.renameProperty(onType: "Part", from: "name", to: "label")
            })
        #expect(error?.message == "Renamed property 'Part.label' does not exist.")
        let realm = try Realm(configuration: folder.release(1, [R10.Person.self], block))
        let person = try #require(realm.object(ofType: R10.Person.self, forPrimaryKey: 1))
        #expect(person.pieces.map { "\($0.title) \($0.code)" } == ["a A", "b B"])
        #expect(person.address?.road == "Main")
    }

    @Test("A link renamed after its targets were deleted or got other keys leads to the same objects")
    func renamedLinks() throws {
        try fill()
        let block: MigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Place") { old, new in
                guard let new else { return }
                if old?["id"] as? String == "B" { migration.delete(new) } else { new["id"] = "A1" }
            }
            migration.renameProperty(onType: "Person", from: "home", to: "address")
        }
        let realm = try Realm(configuration: folder.release(1, [R14.Person.self, R1.Place.self], block))
        let people = realm.objects(R14.Person.self)
        #expect(people.map { $0.address?.id } == ["A1", nil])
        // A later object with the same key doesn't get the link either.
        try realm.write { realm.create(R1.Place.self, value: ["id": "B"]) }
        #expect(people.last?.address == nil)
    }

    @Test("Nothing is left of an embedded object whose property now has another embedded class")
    func anotherEmbeddedClass() throws {
        try fillEmbedded()
        let realm = try Realm(configuration: folder.release(1, [R12.Person.self]) { _, _ in })
        let person = try #require(realm.object(ofType: R12.Person.self, forPrimaryKey: 1))
        #expect(person.home == nil && person.parts.count == 2)
        #expect(realm.objects(R12.Person.self).filter("home.street == 'Main' OR ANY home.rooms.size == 1").isEmpty)
        try realm.write { person.home = R12.Villa() }
        #expect(person.home?.rooms.isEmpty == true)
    }

    @Test("A link that became an embedded object of another class leaves nothing behind")
    func linkToAnotherClass() throws {
        try fill()
        let realm = try Realm(configuration: folder.release(1, [R13.Person.self]) { _, _ in })
        let people = realm.objects(R13.Person.self)
        #expect(people.count == 2 && people.allSatisfy { $0.home == nil })
        #expect(people.filter("home.street == 'First' OR home.number == 1").isEmpty)
    }

    @Test("List elements deleted along with their linked objects take their inner lists with them")
    func cascadingElements() throws {
        let types = [R11.Person.self, R11.Order.self]
        do {
            let realm = try Realm(configuration: folder.release(0, types))
            try realm.write {
                realm.create(R11.Order.self, value: ["id": 7])
                let rooms = [["desks": [["number": 1], ["number": 2]]]]
                let person = realm.create(
                    R11.Person.self, value: ["id": 1, "parts": [["rooms": rooms], ["rooms": rooms]]])
                person.parts[0].order = realm.object(ofType: R11.Order.self, forPrimaryKey: 7)
            }
        }
        let block: MigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Order") { _, new in if let new { migration.delete(new) } }
        }
        let realm = try Realm(configuration: folder.release(1, types, block))
        #expect(realm.object(ofType: R11.Person.self, forPrimaryKey: 1)?.parts.map(\.rooms.count) == [1])
        let desks = try #require(realm.core.file.schema["Person.parts.rooms.desks"])
        let count = try realm.core.connection.integer("SELECT count(*) FROM \(desks.table)")
        #expect(count == 2)
    }

    @Test("A property that is added to the elements of a list has its declared value")
    func newInElements() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, [R6.Person.self]))
            let parts = [["name": "a", "code": "A"], ["name": "b", "code": "B"]]
            try realm.write { realm.create(R6.Person.self, value: ["id": 1, "parts": parts]) }
        }
        let realm = try Realm(configuration: folder.release(1, [R8.Person.self]) { _, _ in })
        #expect(realm.objects(R8.Person.self).first?.parts.map(\.level) == [7, 7])
    }

    @Test("Embedded objects can be set from the ones they replace")
    func replacedByThemselves() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, [R6.Person.self]))
            let home: [String: Any] = ["street": "Main", "rooms": [["size": 1], ["size": 2]]]
            let first: [String: Any] = ["name": "a", "code": "A", "rooms": [["size": 10], ["size": 20]]]
            let parts = [["name": "b", "code": "B"], first]
            try realm.write { realm.create(R6.Person.self, value: ["id": 1, "home": home, "parts": parts]) }
        }
        let block: MigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Person") { _, new in
                guard let new, let parts = new["parts"] as? MigrationList else { return }
                new["home"] = new["home"]
                new["parts"] = parts.filter { ($0 as? MigrationObject)?["name"] as? String == "a" }
            }
        }
        let realm = try Realm(configuration: folder.release(1, [R6.Person.self], block))
        let person = try #require(realm.objects(R6.Person.self).first)
        #expect(person.home?.street == "Main" && person.home?.rooms.map(\.size) == [1, 2])
        #expect(person.parts.map(\.code) == ["A"] && person.parts.first?.rooms.map(\.size) == [10, 20])
    }

    @Test("Elements are appended at the end of their list, whatever happened to it and to others meanwhile")
    func appending() throws {
        try fill()
        let heard = Texts()
        let block: MigrationBlock = { migration, _ in
            var lists: [MigrationList] = []
            migration.enumerateObjects(ofType: "Person") { old, new in
                lists += [new?["tags"] as? MigrationList].compactMap(\.self)
                heard.append((old?["tags"] as? MigrationList)?.map { "\($0 ?? "")" }.joined() ?? "none")
            }
            for text in ["1", "2", "3"] { for list in lists { list.append(text) } }
            heard.append(lists[0].indices.map { "\(lists[0][$0] ?? "")" }.joined())
            lists[0].removeAll()
            heard.append("\(lists[0].count)")
            for text in ["a", "b"] { lists[0].append(text) }
            for list in lists { list.append("end") }
            heard.append("\(lists[1][3] ?? "") \(lists[0][2] ?? "")")
        }
        let realm = try Realm(configuration: folder.release(1, Self.first, block))
        #expect(heard.all == ["xy", "", "xy123", "0", "end end"])
        let people = realm.objects(R1.Person.self).sorted(byKeyPath: "id")
        #expect(people.map { Array($0.tags) } == [["a", "b", "end"], ["1", "2", "3", "end"]])
    }

    @Test("Embedded objects that replace a list's elements aren't mistaken for them")
    func replacedElements() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, [R3.Person.self]))
            let home: [String: Any] = ["street": "Main", "rooms": [["size": 1], ["size": 2]]]
            try realm.write { realm.create(R3.Person.self, value: ["id": 1, "home": home]) }
        }
        let heard = Texts()
        let block: MigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Person") { _, new in
                guard let rooms = (new?["home"] as? MigrationObject)?["rooms"] as? MigrationList else { return }
                let last = rooms[1] as? MigrationObject
                rooms.removeAll()
                rooms.append(["size": 3])
                let third = rooms[0] as? MigrationObject
                rooms.removeAll()
                for size in 4...6 { rooms.append(["size": size]) }
                heard.append("\(last?.isInvalidated == true) \(third?.isInvalidated == true)")
            }
            migration.enumerateObjects(ofType: "Room") { old, new in
                heard.append("Room \(old?["size"] ?? "")")
                new?["size"] = 100
            }
        }
        let realm = try Realm(configuration: folder.release(1, [R3.Person.self], block))
        #expect(heard.all == ["true true"])
        #expect(realm.objects(R3.Person.self).first?.home?.rooms.map(\.size) == [4, 5, 6])
    }

    @Test("A migration block that throws leaves the file as it was")
    func throwing() throws {
        try fill()
        #expect(throws: Realm.Error.self) {
            _ = try Realm(
                configuration: folder.release(1, Self.first) { migration, _ in
                    migration.deleteData(forType: "Person")
                    throw Stop()
                })
        }
        #expect(try schemaVersionAtURL(folder.url.appending(path: "release.sqlite")) == 0)
        #expect(try Realm(configuration: folder.release(0, Self.first)).objects(R1.Person.self).count == 2)
        #expect(try integrity() == "ok")
    }

    @Test(
        "Mistakes in a block are reported and leave the file as it was",
        arguments: [
            ("name", "title", "Person", "Renamed property 'Person.title' does not exist."),
            ("nome", "fullName", "Person", "Cannot rename property 'Person.nome' because it does not exist."),
            ("name", "age", "Person", "because it would change from type 'string' to 'int'"),
            ("age", "fullName", "Person", "because the source property still exists"),
            ("name", "fullName", "Persn", "for type 'Persn' because it does not exist"),
        ])
    func renameMistakes(from: String, to: String, type: String, message: String) throws {
        try fill()
        let error = refusal(
            folder.release(1, Self.second) { migration, _ in
                migration.renameProperty(onType: type, from: from, to: to)
            })
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(try Realm(configuration: folder.release(0, Self.first)).objects(R1.Person.self).count == 2)
    }

    @Test("A list in one column takes no more elements than can be read back")
    func longLists() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, [R4.Drawing.self]))
            try realm.write { realm.create(R4.Drawing.self, value: ["id": 1, "strokes": [["levels": [1, 2]]]]) }
        }
        let error = refusal(
            folder.release(1, [R4.Drawing.self]) { migration, _ in
                migration.enumerateObjects(ofType: "Stroke") { _, new in
                    new?["levels"] = Array(repeating: 0, count: ArrayCoding.maximumCount + 1)
                }
            })
        let message = error?.message ?? ""
        #expect(message.contains("can hold at most 1048576 elements, not 1048577"), "\(message)")
        let realm = try Realm(configuration: folder.release(0, [R4.Drawing.self]))
        #expect(realm.objects(R4.Drawing.self).first?.strokes.first.map { Array($0.levels) } == [1, 2])
    }

    @Test("New objects don't have lists that the app no longer has")
    func removedLists() throws {
        try fill()
        let heard = Texts()
        let error = refusal(
            folder.release(1, Self.second) { migration, _ in
                heard.append(migration.newSchema["Person"]?.lists.map(\.name).sorted().joined(separator: " ") ?? "")
                migration.enumerateObjects(ofType: "Person") { old, new in new?["friends"] = old?["friends"] }
            })
        #expect(heard.all == ["mates tags"])
        #expect(
            error?.message.contains("Invalid property name 'friends' for class 'Person' in the app.") == true,
            "\(error?.message ?? "")")
    }

    @Test("Unknown names and values of the wrong type are reported by name")
    func valueMistakes() throws {
        try fill()
        let steps: [(String, MigrationBlock)] = [
            (
                "Invalid property name 'nmae' for class 'Person'",
                { migration, _ in
                    migration.enumerateObjects(ofType: "Person") { old, _ in _ = old?["nmae"] }
                }
            ),
            (
                "Did you mean 'name'?",
                { migration, _ in
                    migration.enumerateObjects(ofType: "Person") { old, _ in _ = old?["nmae"] }
                }
            ),
            (
                "'Person.name' is of type string and cannot hold",
                { migration, _ in
                    migration.enumerateObjects(ofType: "Person") { _, new in new?["name"] = 5 }
                }
            ),
            (
                "'Person.name' is required and cannot be nil",
                { migration, _ in
                    migration.enumerateObjects(ofType: "Person") { _, new in new?["name"] = nil }
                }
            ),
            ("existing primary key value '5'", { migration, _ in migration.create("Person", value: ["id": 5]) }),
            ("the Realm has no such class", { migration, _ in migration.create("Persons") }),
        ]
        for (message, block) in steps {
            let error = refusal(folder.release(1, Self.first, block))
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        }
        #expect(try schemaVersionAtURL(folder.url.appending(path: "release.sqlite")) == 0)
    }

    @Test("DeleteRealmIfMigrationNeeded deletes instead of calling the block, and keeps files that need no migration")
    func deleting() throws {
        try fill()
        var same = folder.release(0, [R1.Person.self, R1.Place.self])
        same.deleteRealmIfMigrationNeeded = true
        #expect(try Realm(configuration: same).objects(R1.Person.self).count == 2)
        var other = folder.release(1, Self.second) { _, _ in Issue.record("The block was called.") }
        other.deleteRealmIfMigrationNeeded = true
        #expect(try Realm(configuration: other).objects(R2.Person.self).isEmpty)
    }

    @Test("A migration block that opens its own file gets an error")
    func openingInside() throws {
        try fill()
        let other = folder.release(1, Self.first)
        let error = refusal(
            folder.release(1, Self.first) { _, _ in _ = try Realm(configuration: other) })
        #expect(error?.message.contains("migration block") == true, "\(error?.message ?? "")")
    }

    // MARK: Killed

    @Test(
        "A process killed during a migration leaves the old version whole, and the next one migrates it",
        arguments: ["began", "tablesPrepared", "block", "blockRan", "tablesFinished", "committed"])
    func killed(step: String) async throws {
        let path = folder.url.appending(path: "killed.sqlite").path
        try await LocalAppProcess.run("fill", path, "500")
        let killed = try await LocalAppProcess.start("migrate", path, step).outcome()
        #expect(killed.status == -SIGKILL)
        let left = try await LocalAppProcess.run("check", path)
        #expect(left == (step == "committed" ? "new 500 125250" : "old 500 125250"))
        try await LocalAppProcess.run("migrate", path, "none")
        #expect(try await LocalAppProcess.run("check", path) == "new 500 125250")
        let connection = try SQLiteConnection(path: path, durability: .full)
        let check = try connection.statement("PRAGMA integrity_check")
        #expect(try check.step() && check.text(at: 0) == "ok")
        check.reset()
    }
}
