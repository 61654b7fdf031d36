import Foundation
import PostgresClient
import PostgresValues
import TomboloModel

extension PostgresCell {
    /// The elements of an array of a stored type. Decimals come as an array of strings.
    func values(ofList type: PropertyType) throws -> [Value] {
        switch type {
        case .bool: try boolArray.map { $0.map(Value.bool) ?? .null }
        case .int: try int64Array.map { $0.map(Value.int) ?? .null }
        case .double, .float: try doubleArray.map { $0.map(Value.double) ?? .null }
        case .string: try stringArray.map { $0.map(Value.string) ?? .null }
        case .data: try bytesArray.map { $0.map { .data(Data($0)) } ?? .null }
        case .date: try timestampMicrosecondsArray.map { $0.map(Value.date) ?? .null }
        case .uuid: try uuidArray.map { $0.map(Value.uuid) ?? .null }
        case .objectId: try bytesArray.map { $0.flatMap { ObjectId(bytes: $0) }.map(Value.objectId) ?? .null }
        case .decimal128: try stringArray.map { $0.flatMap { Decimal128($0) }.map(Value.decimal) ?? .null }
        case .link, .embedded, .array, .list, .linkingObjects:
            throw ValueError("There are no arrays of the type \(type.name).")
        }
    }
}
