internal import Foundation
internal import TomboloModel
internal import TomboloSQLiteStore

/// An object in a migration: an old one, which is read-only, or a new one. Access properties by name:
/// `new["title"] = "…"`, `old.title`. Values are scalars (integers of all widths are `Int`, enumerations are their raw
/// values), `MigrationObject` for links and embedded objects, and ``MigrationList`` for lists.
///
/// An unknown name, or a value that the property can't hold, makes the migration fail.
@dynamicMemberLookup
public final class MigrationObject {
    let migration: Migration
    private let place: MigrationPlace
    private(set) var row: Int64
    private let isNew: Bool
    private let embeddedClass: String?

    init(
        _ migration: Migration, _ item: StoredClass, row: Int64, isNew: Bool, prefix: String = "",
        embeddedClass: String? = nil
    ) {
        self.migration = migration
        place = MigrationPlace(item, prefix: prefix)
        self.row = row
        self.isNew = isNew
        self.embeddedClass = embeddedClass ?? (prefix.isEmpty ? item.embeddedClass : nil)
    }

    /// A placeholder for an object that a failed migration couldn't create.
    static func none(_ migration: Migration) -> MigrationObject {
        let nothing = migration.store.after.schema.sorted.first ?? migration.store.before.schema.sorted[0]
        return MigrationObject(migration, nothing, row: 0, isNew: false)
    }

    /// The name of the object's class.
    public var className: String { embeddedClass ?? place.item.name }

    private var side: MigrationSide { isNew ? migration.store.after : migration.store.before }
    private var item: StoredClass { place.item }

    /// Whether the object was deleted.
    public var isInvalidated: Bool { migration.attempt(true) { try !side.exists(row, in: item) } }

    /// New objects don't have lists that the app no longer has, although the elements are still in the file.
    private var lists: [(name: String, list: StoredClass)] {
        place.lists(isNew ? migration.store.target : side.schema)
    }

    /// The names of the object's own properties, lists last.
    var propertyNames: [String] { place.columns.map(\.name) + lists.map(\.name) }

    /// The value of a property.
    public subscript(name: String) -> Any? {
        get { migration.attempt(nil) { try value(name) } }
        set { migration.attempt(()) { try set(newValue ?? NSNull(), name) } }
    }

    /// The value of a property.
    public subscript(dynamicMember name: String) -> Any? {
        get { self[name] }
        set { self[name] = newValue }
    }

    /// Same as the subscript.
    public func value(forKey key: String) -> Any? { self[key] }

    /// Same as the subscript.
    public func setValue(_ value: Any?, forKey key: String) { self[key] = value }

    // MARK: Reading

    private func value(_ name: String) throws -> Any? {
        if let position = place.position(name) {
            let property = item.properties[position]
            let value = try side.value(property, of: row, in: item)
            switch property.type {
            case .link(let target):
                guard !value.isNull, let linked = side.schema[target],
                    let found = try side.row(withKey: value, in: linked)
                else { return nil }
                return MigrationObject(migration, linked, row: found, isNew: isNew)
            case .embedded(let target): return value.isNull ? nil : embedded(property, target)
            case .array(let types):
                guard case .data(let data) = value, let elements = ArrayCoding.decode(data, types) else {
                    return [Any]()
                }
                if types.count == 1 { return elements.map { MigrationValue.any($0[0], types[0]) as Any } }
                return elements.map { zip($0, types).map { MigrationValue.any($0, $1) as Any } }
            default: return MigrationValue.any(value, property.type)
            }
        }
        if let list = list(name) { return list }
        throw unknownProperty(name)
    }

    private func embedded(_ property: StoredClass.Property, _ className: String) -> MigrationObject {
        MigrationObject(
            migration, item, row: row, isNew: isNew, prefix: "\(property.name).", embeddedClass: className)
    }

    private func list(_ name: String) -> MigrationList? {
        guard let list = lists.first(where: { $0.name == name })?.list else { return nil }
        return MigrationList(self, list, isNew: isNew)
    }

    private func unknownProperty(_ name: String) -> Realm.Error {
        let hint = name.nearest(in: propertyNames).map { " Did you mean '\($0)'?" } ?? ""
        return Realm.Error(
            .invalidInput,
            "Invalid property name '\(name)' for class '\(className)' "
                + "\(isNew ? "in the app" : "in the old file").\(hint)")
    }

    /// The key of the root object, and the key of the element that contains the object.
    func owner() throws -> (owner: Value, parent: Value?) {
        guard item.isElement else { return (try side.key(of: row, in: item), nil) }
        return (
            try side.value(item.properties[ElementColumn.owner], of: row, in: item),
            try side.value(item.properties[ElementColumn.id], of: row, in: item)
        )
    }

    // MARK: Writing

    func set(_ value: Any, _ name: String) throws {
        guard isNew else {
            throw Realm.Error(
                .invalidInput,
                "'\(className).\(name)' cannot be set: objects of the old file are read-only. Change the new one.")
        }
        guard let position = place.position(name) else {
            guard let list = list(name) else { throw unknownProperty(name) }
            return try list.assign(value)
        }
        let property = item.properties[position]
        let stored: Value
        switch property.type {
        case .link(let target):
            stored = MigrationValue.isNil(value) ? .null : try link(value, target, "\(className).\(name)")
        case .embedded: return try setEmbedded(value, property)
        case .array(let types): stored = try array(value, types, "\(className).\(name)")
        default: stored = try MigrationValue.stored(value, property, className)
        }
        row = try migration.store.set(stored, property, of: row, in: item)
    }

    /// The key of a linked object, which is an old or new object of the migration, an unmanaged object, or the values
    /// of an object to create.
    func link(_ value: Any, _ target: String, _ place: String) throws -> Value {
        let after = migration.store.after
        guard let linked = after.schema[target] else { throw migration.unknown(target, "cannot be linked to") }
        guard let object = try value as? MigrationObject ?? (value as? ObjectBase).map(migration.added) else {
            let made = migration.create(target, value: value)
            if let failure = migration.failure { throw failure }
            return try after.key(of: made.row, in: linked)
        }
        guard object.item.name == target else {
            throw Realm.Error(.invalidInput, "'\(place)' links to \(target) and cannot hold a \(object.className).")
        }
        let found = object.isNew ? object.row : migration.store.newRow(for: object.row, in: linked)
        guard let found, try after.exists(found, in: linked) else {
            throw Realm.Error(.invalidInput, "'\(place)' cannot hold a deleted \(target).")
        }
        return try after.key(of: found, in: linked)
    }

    /// The value of an object whose content is copied. Embedded objects are converted to their values, because the
    /// original may be deleted to make room for the copy.
    static func content(_ value: Any?) -> Any {
        switch value {
        case let object as MigrationObject where object.isNew && object.embeddedClass != nil:
            Dictionary(object.propertyNames.map { ($0, content(object[$0])) }, uniquingKeysWith: { first, _ in first })
        case let list as MigrationList where list.isNew: Array(list).map { content($0) }
        case let value?: value
        case nil: NSNull()
        }
    }

    private func setEmbedded(_ value: Any, _ presence: StoredClass.Property) throws {
        let store = migration.store
        let inner = MigrationPlace(item, prefix: "\(presence.name).")
        let content = MigrationValue.isNil(value) ? nil : try MigrationContent(value, inner, store.target)
        // Delete the previous object with everything in it.
        for property in item.properties where property.name.hasPrefix("\(presence.name).") {
            try clear(property)
        }
        let (owner, parent) = try owner()
        for list in store.after.schema.elementClasses(of: item.name)
        where list.name.hasPrefix("\(item.name).\(presence.name).") && list.hasParent == (parent != nil) {
            try store.deleteElements(of: list, owner: owner, parent: parent)
        }
        guard let content, case .embedded(let className) = presence.type else {
            row = try store.set(.null, presence, of: row, in: item)
            return
        }
        row = try store.set(.bool(true), presence, of: row, in: item)
        try embedded(presence, className).fill(content)
    }

    private func clear(_ property: StoredClass.Property) throws {
        _ = try migration.store.set(.null, property, of: row, in: item)
    }

    /// Sets a new embedded object's values. Required properties without a given value get their type's zero value.
    func fill(_ content: MigrationContent) throws {
        for (name, position) in place.columns {
            let property = item.properties[position]
            guard content[name] == nil, property.isRequiredWhenPresent else { continue }
            row = try migration.store.set(property.type.zero, property, of: row, in: item)
        }
        for (name, given) in content.values { try set(given, name) }
    }

    private func array(_ value: Any, _ types: [PropertyType], _ place: String) throws -> Value {
        guard let elements = value as? [Any] ?? (value as? any RealmCollection)?.map({ $0 as Any }) else {
            throw Realm.Error(.invalidInput, "'\(place)' is a list and cannot hold a \(type(of: value)).")
        }
        // The same limit is checked below, but only once all elements have been converted.
        guard elements.count <= ArrayCoding.maximumCount else {
            throw Realm.Error(
                .invalidInput,
                "'\(place)' can hold at most \(ArrayCoding.maximumCount) elements, not \(elements.count).")
        }
        let rows = try elements.map { element in
            let values = types.count == 1 ? [element] : element as? [Any] ?? []
            guard values.count == types.count else {
                throw Realm.Error(.invalidInput, "Each element of '\(place)' must have \(types.count) values.")
            }
            return try zip(values, types).map { value, type in
                try MigrationValue.stored(value, type, isOptional: true, place)
            }
        }
        let stored = Value.data(ArrayCoding.encode(rows, types))
        return try MigrationValue.checked(stored, .array(types), isOptional: false, place)
    }

    func delete() throws {
        guard isNew else {
            throw Realm.Error(.invalidInput, "Objects of the old file cannot be deleted: delete the new one.")
        }
        guard place.prefix.isEmpty else {
            throw Realm.Error(
                .invalidInput, "To delete an embedded object, set its parent's property to nil.")
        }
        if item.isElement {
            try migration.store.deleteElement(row, of: item)
        } else {
            try migration.store.delete(row, in: item)
        }
    }
}

extension MigrationObject: CustomStringConvertible {
    public var description: String {
        "\(className) { " + place.columns.map { "\($0.name) = \(self[$0.name] ?? "nil")" }.joined(separator: "; ")
            + " }"
    }
}
