import Foundation
import Testing
import TomboloModel

@Suite("Schema discovery")
struct SchemaDiscoveryTests {
    let schema: Schema

    init() throws { schema = try Schema.of([Talk.self]) }

    @Test("Linked classes are found; classes are in name order, each followed by its list elements")
    func reachableClasses() {
        #expect(schema.classes.map(\.name) == ["Room", "Speaker", "Talk", "Talk.speakers", "Venue"])
        #expect(schema.index(of: "Talk.speakers") == 3)
        #expect(schema["Nothing"] == nil)
    }

    @Test("Inherited properties come first, in declaration order; unpersisted ones are left out")
    func columns() throws {
        let talk = try #require(schema["Talk"])
        #expect(
            talk.columns.map(\.name) == [
                "_id", "createdAt", "title", "shortURL", "seats", "small", "kind", "level", "rating", "isPublic",
                "startsAt", "token", "room",
            ])
        #expect(talk.lists == [ListProperty(name: "speakers", target: "Speaker")])
        #expect(talk.primaryKey?.name == "_id")
        #expect(talk.primaryKeyIndex == 0)
    }

    @Test(
        "Types and optionality follow the Swift declarations",
        arguments: [
            ("_id", .objectId, false), ("createdAt", .date, false), ("title", .string, false),
            ("shortURL", .string, true), ("seats", .int(bits: 64), false), ("small", .int(bits: 16), false),
            ("kind", .string, false), ("level", .int(bits: 64), true), ("rating", .double, true),
            ("isPublic", .bool, false), ("startsAt", .date, true), ("token", .uuid, false),
            ("room", .link(to: "Room"), true),
        ] as [(String, PropertyType, Bool)])
    func types(name: String, type: PropertyType, isOptional: Bool) throws {
        let talk = try #require(schema["Talk"])
        let column = talk.columns[try #require(talk.columnIndex(name))]
        #expect(column.type == type)
        #expect(column.isOptional == isOptional)
    }

    @Test("Table name, indexes, unique groups and trash come from the class")
    func declarations() throws {
        #expect(schema["Room"]?.table == "microlocation")
        #expect(schema["Talk"]?.table == "talk")
        #expect(schema["Talk"]?.isTrashable == true)
        #expect(schema["Room"]?.isTrashable == false)
        #expect(schema["Talk"]?.columns.filter(\.isIndexed).map(\.name) == ["startsAt"])
        #expect(schema["Speaker"]?.columns.filter(\.isIndexed).map(\.name) == ["email"])
        #expect(schema["Speaker"]?.uniqueColumns == [[2]])
        #expect(schema["Speaker"]?.columns[4].type == .float)
    }

    @Test("A list becomes an element class with its own table")
    func elements() throws {
        let element = try #require(schema["Talk.speakers"])
        #expect(element.table == "talk_speakers")
        #expect(element.owner == ElementOwner(className: "Talk", property: "speakers", element: .link(to: "Speaker")))
        #expect(element.columns.map(\.name) == ["_id", "owner", "rank", "target"])
        #expect(element.columns[ElementColumn.owner].type == .link(to: "Talk"))
        #expect(element.columns[ElementColumn.target].type == .link(to: "Speaker"))
        #expect(schema.elementClassIndexes(of: 2) == [3])
        #expect(schema.elementClassIndexes(of: 0) == [])
        #expect(schema.rootClassIndex(of: 3) == 2)
        #expect(schema.rootClassIndex(of: 1) == 1)
    }

    @Test("A link is stored as its target's key type")
    func storedTypes() throws {
        let room = try #require(schema["Room"])
        #expect(schema.storedType(of: room.columns[try #require(room.columnIndex("venue"))]) == .string)
        let talk = try #require(schema["Talk"])
        #expect(schema.storedType(of: talk.columns[try #require(talk.columnIndex("room"))]) == .objectId)
    }

    @Test("Local files accept a class without a primary key")
    func withoutKey() throws {
        let schema = try Schema.of([Note.self])
        #expect(schema["Note"]?.primaryKeyIndex == nil)
    }

    @Test("The fingerprint depends on every column but not on the order of the classes")
    func fingerprint() throws {
        #expect(try Schema.of([Venue.self, Talk.self]).fingerprint == schema.fingerprint)
        #expect(try Schema.of([Venue.self]).fingerprint != schema.fingerprint)
        let narrow = ClassSchema(
            name: "A", columns: [Column(name: "_id", type: .int(bits: 32), isPrimaryKey: true)])
        let wide = ClassSchema(name: "A", columns: [Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true)])
        #expect(try Schema([narrow]).fingerprint != Schema([wide]).fingerprint)
    }

    @Test("Random defaults differ between objects and stay the same once read")
    func randomDefaults() {
        let talk = Talk()
        let id = talk._id
        #expect(talk._id == id)
        #expect(talk.token == talk.token)
        #expect(Talk()._id != id)
        #expect(id != ObjectId())
    }

    @Test("Defaults are the declared values, zeros, and the current time")
    func defaults() {
        let start = Date()
        let talk = Talk()
        #expect(talk.title == "Untitled")
        #expect(talk.seats == 30)
        #expect(talk.small == 3)
        #expect(talk.kind == .talk)
        #expect(talk.level == nil)
        #expect(!talk.isPublic)
        let createdAt = talk.createdAt
        #expect(createdAt.microsecondsSince1970 >= start.microsecondsSince1970 && createdAt <= Date() + 0.000_001)
        #expect(talk.createdAt == createdAt)
        #expect(talk.speakers.isEmpty)
        #expect(talk.room == nil)
    }

    @Test("An unmanaged object keeps what's written to it, and the order of its lists")
    func unmanaged() {
        let talk = Talk()
        let speaker = Speaker()
        talk.title = "Sand"
        talk.room = Room()
        talk.room?.name = "Hall 1"
        talk.speakers.append(objectsIn: [Speaker(), speaker, Speaker()])
        talk.speakers.remove(at: 0)
        #expect(talk.title == "Sand")
        #expect(talk.room?.name == "Hall 1")
        #expect(talk.speakers.count == 2)
        #expect(talk.speakers[0] === speaker)
        talk.speakers.removeAll()
        #expect(talk.speakers.isEmpty)
    }

    @Test("An enumeration is stored as its raw value, and an unknown raw value reads as the first case")
    func enumerations() {
        #expect(TalkKind.breakTime._tomboloValue == .string("break"))
        #expect(TalkKind._from(.string("break")) == .breakTime)
        #expect(TalkKind._from(.string("party")) == .talk)
        #expect(Level._from(.int(9)) == .expert)
        #expect(Level?._from(.null) == nil)
    }
}
