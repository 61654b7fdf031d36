internal import Foundation
public import TomboloModel

/// The classes of the suite: keys of three types, links, a list, every kind of column, and a class that is unrelated to
/// the others.
public enum ConformanceSchema {
    public static let room = 0
    public static let session = 1
    public static let element = 2
    public static let speaker = 3
    public static let ticket = 4

    public static func make() throws -> Schema {
        try Schema([
            ClassSchema(
                name: "Room",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "name", type: .string),
                    Column(name: "isOpen", type: .bool), Column(name: "plan", type: .data, isOptional: true),
                ]),
            ClassSchema(
                name: "Session",
                columns: [
                    Column(name: "_id", type: .string, isPrimaryKey: true), Column(name: "title", type: .string),
                    Column(name: "room", type: .link(to: "Room"), isOptional: true),
                    Column(name: "seats", type: .int(bits: 64)),
                    Column(name: "startsAt", type: .date, isOptional: true),
                    Column(name: "rating", type: .double, isOptional: true),
                    Column(name: "price", type: .decimal128, isOptional: true),
                ],
                lists: [ListProperty(name: "speakers", target: "Speaker")]),
            ClassSchema(
                name: "Speaker",
                columns: [
                    Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                    Column(name: "name", type: .string), Column(name: "badge", type: .uuid, isOptional: true),
                ]),
            ClassSchema(
                name: "Ticket",
                columns: [
                    Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                    Column(name: "holder", type: .string), Column(name: "seats", type: .int(bits: 64)),
                    Column(name: "note", type: .string, isOptional: true),
                ]),
        ])
    }

    static func roomRow(_ id: UInt32, _ name: String, plan: [UInt8]? = nil) -> Row {
        Row([.objectId(ObjectId(high: 7, low: id)), .string(name), .bool(true), plan.map { .data(Data($0)) } ?? .null])
    }

    static func sessionRow(_ key: String, _ title: String, room: UInt32? = nil, seats: Int64 = 0) -> Row {
        Row([
            .string(key), .string(title), room.map { .objectId(ObjectId(high: 7, low: $0)) } ?? .null, .int(seats),
            .date(1_700_000_000_000_000), .double(0.5), .decimal("12.50"),
        ])
    }

    static func speakerRow(_ key: Int64, _ name: String) -> Row {
        Row([.int(key), .string(name), .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6)))])
    }

    static func elementRow(_ id: UInt32, of session: String, _ rank: String, _ speaker: Int64) -> Row {
        Row([.objectId(ObjectId(high: 8, low: id)), .string(session), .string(rank), .int(speaker)])
    }

    static func reference(_ classIndex: Int, _ key: Value) -> ObjectReference {
        ObjectReference(classIndex: classIndex, key: key)
    }
}
