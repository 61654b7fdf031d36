public import TomboloModel

extension Realm {
    /// All objects of a class.
    public func objects<Element: Object>(_ type: Element.Type) -> Results<Element> {
        core.confinement.check()
        return Results(core: core, query: ObjectQuery(classIndex: core.classIndex(of: type)))
    }

    /// The object with a primary key, or nil. Stops the program if the class has no primary key or the key's type
    /// differs.
    public func object<Element: Object, KeyType>(
        ofType type: Element.Type, forPrimaryKey key: KeyType
    ) -> Element? {
        core.confinement.check()
        let managed = core.classes[core.classIndex(of: type)]
        guard let column = managed.schema.primaryKeyIndex else {
            programError("'\(type)' does not have a primary key.")
        }
        let keyType = managed.schema.columns[column].type
        guard let value = Self.value(ofKey: key, keyType), value.isKey(of: keyType) else {
            programError("The primary key of '\(type)' is of type \(keyType.name), not \(KeyType.self).")
        }
        // No object has a key that the property can't hold.
        guard (try? managed.validate(value, column)) != nil else { return nil }
        guard let object = core.find(managed, key: value)?.managedObject() else { return nil }
        // Safe, because the class was looked up by `Element`.
        return unsafeDowncast(object, to: Element.self)
    }

    /// Converts common key types without dynamic casts.
    private static func value<KeyType>(ofKey key: KeyType, _ type: PropertyType) -> Value? {
        if KeyType.self == Int.self { return .int(Int64(unsafeBitCast(key, to: Int.self))) }
        if KeyType.self == String.self { return (key as? String).map { .string($0) } }
        if KeyType.self == ObjectId.self { return .objectId(unsafeBitCast(key, to: ObjectId.self)) }
        return Value(any: key, for: type)
    }

    /// Whether the Realm has no objects at all.
    public var isEmpty: Bool {
        core.confinement.check()
        return core.schema.classes.indices.allSatisfy {
            core.schema[$0].owner != nil || core.rowids(ObjectQuery(classIndex: $0), limit: 1).isEmpty
        }
    }
}
