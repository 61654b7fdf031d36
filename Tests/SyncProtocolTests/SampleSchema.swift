import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// Foundation has a type with this name too.
typealias Predicate = TomboloModel.Predicate

/// One class with every type, required and optional, one with a list, and one without any optional property.
enum SampleSchema {
    static let scalarTypes: [PropertyType] = [
        .bool, .int(bits: 8), .int(bits: 64), .double, .string, .data, .date, .objectId, .uuid,
        .decimal128,
    ]

    static func make() throws(SchemaError) -> Schema {
        var columns = [Column(name: "_id", type: .objectId, isPrimaryKey: true)]
        for type in scalarTypes {
            columns.append(Column(name: "\(type.name)Value", type: type))
            columns.append(Column(name: "\(type.name)OrNil", type: type, isOptional: true))
        }
        columns.append(Column(name: "room", type: .link(to: "Room"), isOptional: true))
        return try Schema([
            ClassSchema(
                name: "Everything", columns: columns, lists: [ListProperty(name: "rooms", target: "Room")]),
            ClassSchema(
                name: "Room",
                columns: [
                    Column(name: "code", type: .string, isPrimaryKey: true),
                    Column(name: "seats", type: .int(bits: 64)),
                ]),
            ClassSchema(
                name: "Tag",
                columns: [
                    Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                    Column(name: "label", type: .string, isOptional: true),
                ]),
        ])
    }
}
