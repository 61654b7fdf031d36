internal import Foundation
internal import TomboloModel

/// Migrates a local file to the app's classes by Realm's rules. Everything happens in one write transaction, so the
/// file is either entirely old or entirely new.
///
/// 1. Tables get their new form. Removed columns are kept under other names for now. Classes whose primary key changes
///    are identified by rowid, including in links to them.
/// 2. The app's block runs, if there is one. It reads old values through a second connection, which reads the previous
///    version.
/// 3. Leftovers of the old form are removed, primary keys are checked, and links refer to primary keys again.
package final class LocalMigration {
    /// The file in its old form.
    package let before: MigrationSide
    /// The file in its new form. It still has the removed lists.
    package let after: MigrationSide

    let connection: SQLiteConnection
    let plan: LocalMigrationPlan
    /// The app's classes.
    package let target: StoredSchema
    /// Classes whose primary key changes.
    let rekeyed: Set<String>
    let changes: [String: ClassChange]
    /// Element classes of removed lists.
    let retired: [StoredClass]
    /// Names of removed columns, by class and property.
    let gone: [String: [String: String]]
    /// Classes whose data the block deleted.
    var dropped: Set<String> = []
    /// By class.
    var moved: [String: MovedRows] = [:]
    /// Lists and embedded objects that the block renamed, by old path: `Person.friends`.
    var renamedPaths: [String: String] = [:]
    /// In the order in which the block made them.
    var renames: [Rename] = []
    /// For properties that the block renamed to one that the app doesn't have: the name in the old file, by class and
    /// new name.
    var halfwayNames: [String: [String: String]] = [:]
    /// The last rows that the block's new list elements got, by class.
    var lastElements: [String: Int64] = [:]
    /// The elements appended last, by class. The next ones are usually appended after them.
    var appended: [String: AppendedElement] = [:]
    /// How often rows of a class were created, deleted, or given a different owner or key, by class.
    var rowChanges: [String: Int] = [:]

    /// Runs steps 1 to 3, in the caller's write transaction.
    static func run(
        _ connection: SQLiteConnection, from stored: StoredSchema, to target: StoredSchema, version: UInt64,
        runsBlock: Bool, plan: LocalMigrationPlan, ciphers: (before: PropertyCipher?, after: PropertyCipher?)
    ) throws {
        plan.onStep?(.began)
        // Nobody else can commit now, so the reader gets the version that the migration starts from.
        let reader = try SQLiteConnection(path: connection.path, readOnly: true, durability: .full)
        try reader.run(.begin)
        defer { reader.rollback() }
        _ = try reader.integer("SELECT id FROM tombolo_meta")
        let migration = try LocalMigration(
            connection, before: MigrationSide(reader, stored, ciphers.before), target, plan, ciphers.after)
        plan.onStep?(.tablesPrepared)
        if runsBlock { try plan.block?(migration, version) }
        try migration.requireRenamed()
        plan.onStep?(.blockRan)
        try migration.finish()
        plan.onStep?(.tablesFinished)
    }

    private init(
        _ connection: SQLiteConnection, before: MigrationSide, _ target: StoredSchema, _ plan: LocalMigrationPlan,
        _ cipher: PropertyCipher?
    ) throws {
        self.connection = connection
        self.before = before
        self.target = target
        self.plan = plan
        var current = before.schema
        gone = try MigrationTables.setAside(&current, target, connection)
        var changes: [String: ClassChange] = [:]
        for item in target.sorted {
            guard let old = current[item.name] else { continue }
            let change = ClassChange(from: old, to: item)
            if old != item { changes[item.name] = change }
        }
        self.changes = changes
        let rekeyed = Set(changes.values.filter { $0.isKeyChanged && !$0.new.isElement }.map(\.new.name))
        self.rekeyed = rekeyed
        retired = current.sorted.filter {
            $0.isElement && target[$0.name] == nil && target[$0.rootName] != nil
        }
        var working = target
        for name in rekeyed {
            for position in working.classes[name]?.properties.indices ?? 0..<0 {
                working.classes[name]?.properties[position].isPrimaryKey = false
            }
        }
        for item in retired { working.classes[item.name] = item }
        after = MigrationSide(connection, working, cipher)
        try prepare(current)
    }

    /// The initial value of a new property in existing rows.
    /// - Parameter presence: returns the source of the column that stores whether the embedded object with the property
    ///   exists. Nil to use the column itself.
    func initial(
        _ property: StoredClass.Property, of item: StoredClass, presence: ((StoredClass.Property) -> SQLPart)? = nil
    ) -> SQLPart {
        guard let required = required(property, of: item) else { return .null }
        guard property.isRequiredWhenPresent, let dot = property.name.lastIndex(of: "."),
            let holder = item.properties.first(where: { $0.name == property.name[..<dot] })
        else { return required }
        let part = presence?(holder) ?? SQLPart(sql: MigrationSide.quoted(holder.column))
        return SQLPart(
            sql: "CASE WHEN \(part.sql) IS NULL THEN NULL ELSE \(required.sql) END",
            values: part.values + required.values)
    }

    private func required(_ property: StoredClass.Property, of item: StoredClass) -> SQLPart? {
        let isRequired = !property.isOptional || property.isRequiredWhenPresent
        // Encrypted properties are filled row by row later.
        if property.isEncrypted { return isRequired ? SQLPart(sql: "x''") : nil }
        if let declared = plan.initialValue(item.name, property.name), !declared.isNull { return .value(declared) }
        guard isRequired else { return nil }
        switch property.type {
        case .objectId: return SQLPart(sql: "randomblob(\(ObjectId.byteCount))")
        case .uuid: return SQLPart(sql: "randomblob(16)")
        default: return .value(after.schema.storedType(of: property).zeroValue(for: property.type))
        }
    }
}

/// The last element of a list.
struct AppendedElement {
    let owner: Value
    let parent: Value?
    let row: Int64
}

extension PropertyType {
    /// The zero of a property's type, or of the key's type for a link.
    fileprivate func zeroValue(for type: PropertyType) -> Value {
        if case .link = type { return zero }
        return type.zero
    }
}
