import Foundation
import RandomValues
import Tombolo
import TomboloModel

enum Level: String, PersistableEnum {
    case low
    case high
}

/// Has a property of every type.
final class Sample: Object {
    @Persisted(primaryKey: true) var _id: UUID
    @Persisted var flag: Bool
    @Persisted var optionalFlag: Bool?
    @Persisted var int8: Int8
    @Persisted var int16: Int16
    @Persisted var int32: Int32
    @Persisted var int: Int
    @Persisted var optionalInt: Int?
    @Persisted var float: Float
    @Persisted var double: Double
    @Persisted var optionalDouble: Double?
    @Persisted var text: String
    @Persisted var optionalText: String?
    @Persisted var bytes: Data
    @Persisted var optionalBytes: Data?
    @Persisted var moment: Date
    @Persisted var optionalMoment: Date?
    @Persisted var reference: ObjectId
    @Persisted var optionalReference: ObjectId?
    @Persisted var uuid: UUID
    @Persisted var optionalUUID: UUID?
    @Persisted var price: Decimal128
    @Persisted var optionalPrice: Decimal128?
    @Persisted var level: Level
    @Persisted var friend: Sample?
}

/// The values of a sample by property name.
typealias Content = [String: Value]

extension Sample {
    /// A property by name, in its stored form.
    struct Field: Sendable {
        let name: String
        /// What is left of a value once the Swift property holds it: a `Float` has fewer digits than the stored double, and
        /// a `Date` is less precise than the stored time.
        let kept: @Sendable (Value) -> Value
        let read: @Sendable (Sample) -> Value
        let write: @Sendable (Sample, Value) -> Void

        init<V: Persistable & SendableMetatype>(
            _ name: String, _ property: any ReferenceWritableKeyPath<Sample, V> & Sendable
        ) {
            self.name = name
            kept = { V._from($0)._tomboloValue }
            read = { $0[keyPath: property]._tomboloValue }
            write = { $0[keyPath: property] = V._from($1) }
        }
    }

    /// All properties but the primary key and the link.
    static let fields: [Field] = [
        Field("flag", \.flag), Field("optionalFlag", \.optionalFlag), Field("int8", \.int8), Field("int16", \.int16),
        Field("int32", \.int32), Field("int", \.int), Field("optionalInt", \.optionalInt), Field("float", \.float),
        Field("double", \.double), Field("optionalDouble", \.optionalDouble), Field("text", \.text),
        Field("optionalText", \.optionalText), Field("bytes", \.bytes), Field("optionalBytes", \.optionalBytes),
        Field("moment", \.moment), Field("optionalMoment", \.optionalMoment), Field("reference", \.reference),
        Field("optionalReference", \.optionalReference), Field("uuid", \.uuid),
        Field("optionalUUID", \.optionalUUID), Field("price", \.price), Field("optionalPrice", \.optionalPrice),
        Field("level", \.level),
    ]

    var content: Content {
        var content = Dictionary(uniqueKeysWithValues: Self.fields.map { ($0.name, $0.read(self)) })
        content["_id"] = .uuid(_id)
        content["friend"] = friend.map { .uuid($0._id) } ?? .null
        return content
    }

    /// Sets everything but the key and the link.
    func take(_ content: Content) {
        for field in Self.fields { if let value = content[field.name] { field.write(self, value) } }
    }

    /// - Parameter friends: the keys that the link may point to.
    static func random(
        _ values: inout RandomValues, key: Value, friends: [Value], of item: ClassSchema, in schema: Schema
    ) -> Content {
        var content: Content = ["_id": key, "friend": friends.isEmpty || values.flag(3) ? .null : values.pick(friends)]
        for field in fields {
            guard let index = item.columnIndex(field.name) else { continue }
            let column = item.columns[index]
            let value =
                field.name == "level"
                ? values.pick(Level.allCases)._tomboloValue : values.value(schema.storedType(of: column))
            content[field.name] = column.isOptional && values.flag(3) ? .null : field.kept(value)
        }
        return content
    }
}
