internal import Foundation
internal import TomboloModel
internal import TomboloSQLiteStore

/// Converts scalars between the forms of the file and the migration block.
enum MigrationValue {
    /// The value that the block reads: Int, String, Date, and so on; raw values for enumerations.
    static func any(_ value: Value, _ type: PropertyType) -> Any? {
        switch value {
        case .null: nil
        case .bool(let value): value
        case .int(let value): Int(value)
        case .double(let value): type == .float ? Float(value) as Any : value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): Date(microsecondsSince1970: value)
        case .objectId(let value): value
        case .uuid(let value): value
        case .decimal(let value): value
        }
    }

    /// - Throws: ``Realm/Error`` if the property can't hold the value.
    static func stored(_ value: Any, _ property: StoredClass.Property, _ className: String) throws -> Value {
        try stored(
            value, property.type, isOptional: property.isOptional && !property.isRequiredWhenPresent,
            "\(className).\(property.name)")
    }

    /// - Parameter place: the class and property, for messages.
    static func stored(_ value: Any, _ type: PropertyType, isOptional: Bool, _ place: String) throws -> Value {
        try checked(scalar(value, type, place), type, isOptional: isOptional, place)
    }

    /// - Throws: ``Realm/Error`` if a property of the type can't hold the value.
    static func checked(_ stored: Value, _ type: PropertyType, isOptional: Bool, _ place: String) throws -> Value {
        do {
            try Column(name: place, type: type, isOptional: isOptional).validate(stored)
        } catch {
            throw Realm.Error(.invalidInput, error.message)
        }
        return stored
    }

    static func isNil(_ value: Any) -> Bool {
        // A nil inside `Any` is still an Optional.
        value is NSNull || (value as? any MigrationOptional)?.isNone == true
    }

    private static func scalar(_ value: Any, _ type: PropertyType, _ place: String) throws -> Value {
        if isNil(value) { return .null }
        guard let given = (value as? any Persistable)?._tomboloValue else {
            throw Realm.Error(
                .invalidInput, "'\(place)' is of type \(type.name) and cannot hold a \(Swift.type(of: value)).")
        }
        if case .int(let number) = given, type == .double || type == .float { return .double(Double(number)) }
        return given
    }
}

/// Optionals of any type.
private protocol MigrationOptional {
    var isNone: Bool { get }
}

extension Optional: MigrationOptional {
    fileprivate var isNone: Bool { if case .none = self { true } else { false } }
}
