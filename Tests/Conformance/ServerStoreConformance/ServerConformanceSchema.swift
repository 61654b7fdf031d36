internal import Foundation
public import TomboloModel

/// The classes of the suite: keys of three types, links, a list, a unique constraint, and every kind of column.
public enum ServerConformanceSchema {
    public static let room = 0
    public static let session = 1
    public static let element = 2
    public static let speaker = 3

    enum Session {
        static let title = 1
        static let room = 2
        static let seats = 3
    }

    public static func make() throws -> Schema {
        try Schema([
            ClassSchema(
                name: "Room",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "name", type: .string),
                    Column(name: "isOpen", type: .bool), Column(name: "plan", type: .data, isOptional: true),
                ], uniqueProperties: [["name"]]),
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
        ])
    }

    static func id(_ high: UInt64, _ low: UInt32) -> Value { .objectId(ObjectId(high: high, low: low)) }

    static func roomRow(_ id: UInt32, _ name: String, isOpen: Bool = true, plan: [UInt8]? = nil) -> Row {
        Row([Self.id(7, id), .string(name), .bool(isOpen), plan.map { .data(Data($0)) } ?? .null])
    }

    static func sessionRow(
        _ key: String, _ title: String, room: UInt32? = nil, seats: Int64 = 0, startsAt: Int64? = nil,
        rating: Double? = nil, price: Decimal128? = nil
    ) -> Row {
        Row([
            .string(key), .string(title), room.map { id(7, $0) } ?? .null, .int(seats),
            startsAt.map { .date($0) } ?? .null, rating.map { .double($0) } ?? .null,
            price.map { .decimal($0) } ?? .null,
        ])
    }

    static func speakerRow(_ key: Int64, _ name: String, badge: UInt8? = nil) -> Row {
        Row([
            .int(key), .string(name),
            badge.map { .uuid(UUID(uuid: ($0, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6))) } ?? .null,
        ])
    }

    static func elementRow(_ id: UInt32, of session: String, _ rank: String, _ speaker: Int64) -> Row {
        Row([Self.id(8, id), .string(session), .string(rank), .int(speaker)])
    }

    static func reference(_ classIndex: Int, _ key: Value) -> ObjectReference {
        ObjectReference(classIndex: classIndex, key: key)
    }

    static func room(_ id: UInt32) -> ObjectReference { reference(room, Self.id(7, id)) }
    static func session(_ key: String) -> ObjectReference { reference(session, .string(key)) }
    static func speaker(_ key: Int64) -> ObjectReference { reference(speaker, .int(key)) }
    static func element(_ id: UInt32) -> ObjectReference { reference(element, Self.id(8, id)) }

    /// A row with its reference.
    static func put(_ classIndex: Int, _ row: Row) -> (ObjectReference, Row?) { (reference(classIndex, row[0]), row) }
}
