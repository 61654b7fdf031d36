public import TomboloModel

/// A Realm's description of a class: its name and properties.
public typealias ObjectSchema = ClassSchema

/// A property of a model class.
public struct Property: Hashable, Sendable, CustomStringConvertible {
    /// The type of a property or of a list's elements. Integers of all widths are `int`.
    public enum Kind: Hashable, Sendable {
        case int, bool, float, double, string, data, date, object, linkingObjects, objectId, decimal128, UUID
    }

    public let name: String
    /// The name of its column in SQL.
    public let columnName: String
    public let type: Kind
    public let isOptional: Bool
    public let isIndexed: Bool
    /// Whether the property is a list.
    public let isArray: Bool
    /// The class of linked or embedded objects.
    public let objectClassName: String?

    public var description: String {
        let type = objectClassName ?? "\(type)"
        return "\(name): \(isArray ? "array<\(type)>" : type)\(isOptional ? "?" : "")\(isIndexed ? ", indexed" : "")"
    }
}

extension Realm {
    /// The classes of the Realm, including those of list elements (`Person.dogs`). ``Schema/objectSchema`` has only the
    /// model classes.
    public var schema: Schema { core.schema }
}

extension Schema {
    /// The model classes, ordered by name.
    public var objectSchema: [ObjectSchema] { classes.filter { $0.owner == nil } }
}

extension ClassSchema {
    /// The name of the class.
    public var className: String { name }

    /// The properties in declaration order, without LinkingObjects.
    public var properties: [Property] {
        let all =
            columns.filter { !$0.name.contains(".") }.map { Property($0) }
            + lists.filter { !$0.name.contains(".") }.map { Property($0) }
        let places = Dictionary(uniqueKeysWithValues: zip(propertyNames, propertyNames.indices))
        return all.enumerated().sorted { left, right in
            (places[left.element.name] ?? left.offset, left.offset)
                < (places[right.element.name] ?? right.offset, right.offset)
        }.map(\.element)
    }

    /// The primary key, or nil if the class has none.
    public var primaryKeyProperty: Property? { primaryKeyIndex.map { Property(columns[$0]) } }

    /// The property with a name, or nil.
    public subscript(propertyName: String) -> Property? { properties.first { $0.name == propertyName } }
}

extension ClassSchema: CustomStringConvertible {
    /// The class and its properties, one per line.
    public var description: String {
        "\(name) {\n\(properties.map { "\t\($0)\n" }.joined())}"
    }
}

extension ObjectBase {
    /// The schema of the object's class.
    public var objectSchema: ObjectSchema { ObjectClass.of(type(of: self)).schema }

    /// The schema of this class.
    public static func sharedSchema() -> ObjectSchema? { ObjectClass.of(self).schema }

    /// The name of the class in the schema and in migrations.
    public static func className() -> String { String(describing: self) }
}

extension Property {
    init(_ column: Column) {
        let isArray: Bool
        let element: PropertyType
        if case .array(let types) = column.type {
            (isArray, element) = (true, types.count == 1 ? types[0] : .embedded(""))
        } else {
            (isArray, element) = (false, column.type)
        }
        self.init(
            name: column.name, columnName: column.sqlName, type: Kind(element), isOptional: column.isOptional,
            isIndexed: column.isIndexed || column.isPrimaryKey, isArray: isArray, objectClassName: element.className)
    }

    init(_ list: ListProperty) {
        let (element, isOptional): (PropertyType, Bool) =
            switch list.element {
            case .link(let target): (.link(to: target), false)
            case .scalar(let type, let isOptional): (type, isOptional)
            case .embedded(let schema): (.embedded(schema.name), false)
            }
        self.init(
            name: list.name, columnName: list.sqlName, type: Kind(element), isOptional: isOptional, isIndexed: false,
            isArray: true, objectClassName: element.className)
    }
}

extension Property.Kind {
    fileprivate init(_ type: PropertyType) {
        switch type {
        case .int: self = .int
        case .bool: self = .bool
        case .float: self = .float
        case .double: self = .double
        case .string: self = .string
        case .data, .array: self = .data
        case .date: self = .date
        case .objectId: self = .objectId
        case .uuid: self = .UUID
        case .decimal128: self = .decimal128
        case .link, .embedded: self = .object
        case .list(let element, _): self.init(element)
        case .linkingObjects: self = .linkingObjects
        }
    }
}

extension PropertyType {
    fileprivate var className: String? {
        switch self {
        case .link(let name), .embedded(let name), .linkingObjects(let name): name.isEmpty ? nil : name
        default: nil
        }
    }
}
