internal import TomboloModel
internal import TomboloSQLiteStore

/// Where the properties of a migration's object are among the columns and lists of the class whose row contains it. The
/// object has all of them, or, if embedded, only its own.
struct MigrationPlace {
    let item: StoredClass
    /// The prefix of the column names: `address.`.
    let prefix: String

    init(_ item: StoredClass, prefix: String = "") {
        self.item = item
        self.prefix = prefix
    }

    /// The columns that are the object's own properties.
    var columns: [(name: String, position: Int)] {
        let content = item.isElement && prefix.isEmpty ? item.content : item.properties[...]
        return content.indices.compactMap { position in
            let name = item.properties[position].name
            guard name.hasPrefix(prefix) else { return nil }
            let own = String(name.dropFirst(prefix.count))
            return own.contains(".") ? nil : (own, position)
        }
    }

    func lists(_ schema: StoredSchema) -> [(name: String, list: StoredClass)] {
        let start = "\(item.name).\(prefix)"
        return schema.elementClasses(of: item.name).compactMap { list in
            guard list.name.hasPrefix(start) else { return nil }
            let own = String(list.name.dropFirst(start.count))
            return own.contains(".") ? nil : (own, list)
        }
    }

    func position(_ name: String) -> Int? { columns.first { $0.name == name }?.position }
}

/// Values given for an object, by property name.
struct MigrationContent {
    let values: [(name: String, value: Any)]

    subscript(name: String) -> Any? { values.first { $0.name == name }?.value }

    /// - Parameter schema: the schema if lists may be given, otherwise nil.
    init(_ value: Any, _ place: MigrationPlace, _ schema: StoredSchema? = nil) throws {
        switch value {
        case let dictionary as [String: Any]:
            values = dictionary.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        case let array as [Any]:
            let names = place.columns.map(\.name) + (schema.map { place.lists($0).map(\.name) } ?? [])
            guard array.count <= names.count else {
                throw Realm.Error(
                    .invalidInput,
                    "Invalid array input: '\(place.item.name)' has \(names.count) properties; \(array.count) values "
                        + "were given.")
            }
            values = zip(names, array).map { ($0, $1) }
        case let object as MigrationObject:
            values = object.propertyNames.filter { name in
                place.position(name) != nil || schema.map { place.lists($0).contains { $0.name == name } } ?? true
            }.map { ($0, MigrationObject.content(object[$0])) }
        case let object as ObjectBase:
            values = ObjectClass.of(type(of: object)).properties.compactMap { property in
                if case .linkingObjects = property.slot { return nil }
                return (property.name, object.held(property))
            }
        default:
            throw Realm.Error(
                .invalidInput,
                "Expected a dictionary, an array or an object of the migration for '\(place.item.name)', not a "
                    + "\(type(of: value)).")
        }
    }
}
