internal import Foundation
public import TomboloModel
internal import TomboloSQLiteStore

/// Converts a file's objects after the app's classes have changed. The number is the file's previous schema version.
///
///     Realm.Configuration(
///         schemaVersion: 2,
///         migrationBlock: { migration, oldSchemaVersion in
///             if oldSchemaVersion < 1 {
///                 migration.renameProperty(onType: "Person", from: "age", to: "yearsSinceBirth")
///             }
///             if oldSchemaVersion < 2 {
///                 migration.enumerateObjects(ofType: "Person") { old, new in
///                     new?["fullName"] = "\(old!["firstName"]!) \(old!["lastName"]!)"
///                 }
///             }
///         })
///
/// Everything happens in one transaction. If the block throws or does something invalid, the file stays unchanged and
/// opening it throws the reason. The block must not open the same file.
public typealias MigrationBlock = @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) throws -> Void

/// Called by ``Migration/enumerateObjects(ofType:_:)`` for each object.
public typealias MigrationObjectEnumerateBlock = (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) -> Void

/// A Realm's file during a ``MigrationBlock``, in its old and its new form. Objects are read and set by property name.
public final class Migration {
    let store: LocalMigration
    /// The first error. After it, nothing more is done.
    private(set) var failure: (any Error)?
    private var isOver = false
    /// Unmanaged objects that the block passed in. Each is added once.
    private var added: [ObjectIdentifier: (given: ObjectBase, object: MigrationObject)] = [:]

    init(_ store: LocalMigration) { self.store = store }

    /// Runs a block and throws whatever failed in it.
    static func run(_ block: MigrationBlock, on store: LocalMigration, from version: UInt64) throws {
        let migration = Migration(store)
        defer { migration.isOver = true }
        try block(migration, version)
        if let failure = migration.failure { throw failure }
    }

    /// Performs a step unless an earlier one failed. As in Realm, migrations don't need `try`: the first error makes
    /// opening the Realm fail.
    func attempt<Result>(_ fallback: Result, _ body: () throws -> Result) -> Result {
        if isOver { programError("A migration and its objects can only be used in the migration block.") }
        guard failure == nil else { return fallback }
        do {
            return try body()
        } catch {
            failure = error
            return fallback
        }
    }

    // MARK: Classes

    /// The classes in the file, including those that the app no longer has.
    public private(set) lazy var oldSchema: Schema = schema(store.before.schema)

    /// The app's classes.
    public private(set) lazy var newSchema: Schema = schema(store.target)

    private func schema(_ classes: StoredSchema) -> Schema {
        if let schema = try? classes.schema() { return schema }
        programError("The classes of '\(store.before.connection.path)' aren't a valid schema.")
    }

    // MARK: Objects

    /// Calls `block` for each existing object of a class, with the old and the new object. The new object is nil if the
    /// app no longer has the class. For a new class, calls `block` for each object created so far. Skips objects that
    /// the block deletes or creates. Embedded objects can also be enumerated by their class, wherever they are; the new
    /// object is nil if its place is now empty.
    public func enumerateObjects(ofType typeName: String, _ block: MigrationObjectEnumerateBlock) {
        attempt(()) {
            let (old, new) = (store.before.schema[typeName], store.after.schema[typeName])
            switch (old, new) {
            case (let old?, let new?):
                try store.before.forEachRow(of: old) { row in
                    guard failure == nil, let target = store.newRow(for: row, in: new),
                        try store.after.exists(target, in: new)
                    else { return }
                    block(object(row, old, isNew: false), object(target, new, isNew: true))
                }
            case (let old?, nil):
                try store.before.forEachRow(of: old) { row in
                    if failure == nil { block(object(row, old, isNew: false), nil) }
                }
            case (nil, let new?):
                try store.after.forEachRow(of: new) { row in
                    guard failure == nil, try store.after.exists(row, in: new) else { return }
                    block(nil, object(row, new, isNew: true))
                }
            // These are embedded objects. There are none if an earlier release's step names a class that was removed
            // long ago.
            case (nil, nil): for old in store.before.schema.sorted { try enumerateEmbedded(typeName, in: old, block) }
            }
        }
    }

    private func object(_ row: Int64, _ item: StoredClass, isNew: Bool) -> MigrationObject {
        MigrationObject(self, item, row: row, isNew: isNew)
    }

    /// Calls `block` for the embedded objects of a class within the rows of another class. They are in columns of the
    /// rows; for a list of embedded objects they are the rows themselves.
    private func enumerateEmbedded(
        _ className: String, in old: StoredClass, _ block: MigrationObjectEnumerateBlock
    ) throws {
        if old.embeddedClass == className { try enumerateEmbedded(className, in: old, nil, block) }
        for property in old.properties where property.type == .embedded(className) {
            try enumerateEmbedded(className, in: old, property, block)
        }
    }

    /// - Parameter presence: the column that stores whether the object exists; nil for elements of a list.
    private func enumerateEmbedded(
        _ className: String, in old: StoredClass, _ presence: StoredClass.Property?,
        _ block: MigrationObjectEnumerateBlock
    ) throws {
        let new = store.after.schema[store.newPath(of: old.name)]
        func part(_ row: Int64, _ item: StoredClass, _ side: MigrationSide, isNew: Bool) throws -> MigrationObject? {
            guard let presence else { return object(row, item, isNew: isNew) }
            let path = "\(old.name).\(presence.name)"
            let name = isNew ? String(store.newPath(of: path).dropFirst(item.name.count + 1)) : presence.name
            guard let property = item.properties.first(where: { $0.name == name }),
                property.type == .embedded(className), try !side.value(property, of: row, in: item).isNull
            else { return nil }
            return MigrationObject(
                self, item, row: row, isNew: isNew, prefix: "\(name).", embeddedClass: className)
        }
        try store.before.forEachRow(of: old) { row in
            guard failure == nil, let oldPart = try part(row, old, store.before, isNew: false) else { return }
            guard let new else { return block(oldPart, nil) }
            guard let target = store.newRow(for: row, in: new), try store.after.exists(target, in: new) else { return }
            block(oldPart, try part(target, new, store.after, isNew: true))
        }
    }

    /// Creates an object of one of the app's classes from a dictionary by property name, an array in property order
    /// (lists last), another object of the migration, or an object of the class.
    @discardableResult
    public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
        attempt(MigrationObject.none(self)) {
            guard let item = store.after.schema[typeName], !item.isElement else {
                throw unknown(typeName, "cannot be created")
            }
            let content = try MigrationContent(value, MigrationPlace(item))
            var values: [Int: Value] = [:]
            if let key = item.keyIndex, let given = content[item.properties[key].name] {
                values[key] = try MigrationValue.stored(given, item.properties[key], item.name)
            }
            let object = object(try store.insert(item, values), item, isNew: true)
            if let given = value as? ObjectBase { added[ObjectIdentifier(given)] = (given, object) }
            let keyName = item.keyIndex.map { item.properties[$0].name }
            for (name, given) in content.values where name != keyName { try object.set(given, name) }
            return object
        }
    }

    /// The migration's counterpart of one of the app's objects, created on first use.
    func added(_ given: ObjectBase) throws -> MigrationObject {
        if let known = added[ObjectIdentifier(given)] { return known.object }
        let made = create(given.className, value: given)
        if let failure { throw failure }
        return made
    }

    /// Deletes a new object. Links to it become nil.
    public func delete(_ object: MigrationObject) {
        attempt(()) { try object.delete() }
    }

    /// Deletes all objects of a class. If the app no longer has the class, also drops its table, which otherwise stays
    /// in the file.
    /// - Returns: false if the file didn't have the class.
    @discardableResult
    public func deleteData(forType typeName: String) -> Bool {
        attempt(false) { try store.deleteData(of: typeName) }
    }

    /// Gives a new property the values of a removed one. Otherwise a renamed property counts as one removed and one
    /// added. Call this outside ``enumerateObjects(ofType:_:)``. For files that skip a release, renames can be chained:
    /// renaming `a` to `b`, then `b` to `c`, moves the values from `a` to `c`.
    public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
        attempt(()) { try store.rename(oldName, to: newName, of: typeName) }
    }

    func unknown(_ name: String, _ what: String) -> Realm.Error {
        let names = store.after.schema.sorted.filter { !$0.isElement }.map(\.name)
        let hint = name.nearest(in: names).map { " Did you mean '\($0)'?" } ?? ""
        return Realm.Error(.invalidInput, "An object of type '\(name)' \(what): the Realm has no such class.\(hint)")
    }
}
