internal import TomboloChangesets
internal import TomboloModel

/// The one accessor of an object in a Realm: its values at the Realm's version, fetched when first read.
final class ManagedRow: ObjectAccessor {
    let core: RealmCore
    let classIndex: Int
    let key: Value
    /// The transaction that made the object here; 0 for one that was found.
    let createdIn: UInt64
    private var values: [Value] = []
    /// The version of the Realm that `values` are of; 0 for none.
    private var version: UInt64 = 0
    /// Deleted, or made in a transaction that was cancelled. Stays so.
    private(set) var isDead = false
    private weak var object: Object?
    private var lists: [Int: WeakList] = [:]

    private struct WeakList {
        weak var list: ManagedList?
    }

    init(core: RealmCore, classIndex: Int, key: Value, createdIn: UInt64 = 0) {
        self.core = core
        self.classIndex = classIndex
        self.key = key
        self.createdIn = createdIn
    }

    var reference: ObjectReference { ObjectReference(classIndex: classIndex, key: key) }
    var schema: ClassSchema { core.schema[classIndex] }
    var isFresh: Bool { version == core.version }

    /// The object that the app holds, or a new one.
    func managedObject() -> Object {
        if let object { return object }
        let layout = core.objectClass(classIndex)
        guard let object = layout.type.init() as? Object else { programError("\(layout.schema.name) has no objects.") }
        attach(object, layout)
        return object
    }

    func attach(_ object: Object, _ layout: ObjectClass) {
        object.attach(self, layout)
        if self.object == nil { self.object = object }
    }

    /// Values that were just read or written, of the Realm's present version.
    func fill(_ values: [Value]) {
        self.values = values
        version = core.version
    }

    func kill() { isDead = true }

    /// Makes the values those of the Realm's version. Stops the program for a deleted object.
    private func load() {
        if !isDead, !isFresh { core.fetch(self) }
        if isDead { programError("Object has been deleted or invalidated: \(schema.name) \(key).") }
    }

    // MARK: ObjectAccessor

    var isValid: Bool {
        core.confinement.check()
        if !isDead, !isFresh { core.fetch(self) }
        return !isDead
    }

    func value(at column: Int) -> Value {
        core.confinement.check()
        load()
        return values[column]
    }

    func setValue(_ value: Value, at column: Int) {
        core.requireWrite()
        load()
        if column == schema.primaryKeyIndex {
            if value != key {
                core.fail(.invalidInput, "Primary key '\(schema.name).\(schema.columns[column].name)' cannot change.")
            }
            return
        }
        guard core.validate(value, column: column, of: classIndex) else { return }
        values[column] = value
        core.record(.set(reference, [FieldWrite(column: column, value: value)]))
    }

    /// Several fields at once; they are valid.
    func set(_ fields: [FieldWrite]) {
        load()
        for field in fields { values[field.column] = field.value }
        core.record(.set(reference, fields))
    }

    /// Adds to an integer so that additions elsewhere count too.
    func add(_ amount: Int64, at column: Int) {
        core.requireWrite()
        load()
        let current: Int64 = if case .int(let number) = values[column] { number } else { 0 }
        let sum = current.addingReportingOverflow(amount)
        guard !sum.overflow else {
            core.fail(
                .invalidInput,
                "'\(schema.name).\(schema.columns[column].name)' would exceed 64 bits: \(current) + \(amount).")
            return
        }
        let value = Value.int(sum.partialValue)
        guard core.validate(value, column: column, of: classIndex) else { return }
        values[column] = value
        core.record(.add(reference, column: column, amount: amount))
    }

    func linkedObject(at column: Int) -> Object? {
        let key = value(at: column)
        guard !key.isNull, let target = core.linkTarget(of: classIndex, column) else { return nil }
        return core.find(ObjectReference(classIndex: target, key: key))?.managedObject()
    }

    func setLinkedObject(_ object: Object?, at column: Int) {
        core.requireWrite()
        guard let object else { return setValue(.null, at: column) }
        guard let row = core.managed(object) else { return }
        setValue(row.key, at: column)
    }

    func embeddedObject(at column: Int) -> EmbeddedObject? { nil }

    func setEmbeddedObject(_ object: EmbeddedObject?, at column: Int) {}

    func linkingStorage(ofProperty property: Int) -> any LinkingStorage {
        programError("\(schema.name) cannot tell what links to it.")
    }

    func listStorage(ofProperty property: Int) -> any ListStorage {
        guard case .list(let list) = core.objectClass(classIndex).properties[property].slot else {
            programError("\(schema.name) has no list there.")
        }
        return listStorage(at: list)
    }

    func listStorage(at list: Int) -> any ListStorage {
        core.confinement.check()
        if let known = lists[list]?.list { return known }
        let storage = ManagedList(row: self, list: list)
        lists[list] = WeakList(list: storage)
        return storage
    }
}
