public import TomboloModel

extension Realm {
    /// All objects of a class.
    public func objects<Element: Object>(_ type: Element.Type) -> Results<Element> {
        core.confinement.check()
        return Results(core: core, query: ObjectQuery(classIndex: core.classIndex(of: type)))
    }

    /// The object with a primary key, where there is one.
    public func object<Element: Object, KeyType>(
        ofType type: Element.Type, forPrimaryKey key: KeyType
    ) -> Element? {
        core.confinement.check()
        let classIndex = core.classIndex(of: type)
        guard let column = core.schema[classIndex].primaryKey else {
            programError("'\(type)' does not have a primary key.")
        }
        guard let value = Value(any: key, for: column.type), value.isKey(of: column.type) else {
            programError("The primary key of '\(type)' is of type \(column.type.name), not \(KeyType.self).")
        }
        // No object has a key that its property cannot hold.
        guard (try? column.validate(value)) != nil else { return nil }
        return core.find(ObjectReference(classIndex: classIndex, key: value))?.managedObject() as? Element
    }

    /// Whether no class has an object.
    public var isEmpty: Bool {
        core.confinement.check()
        return core.schema.classes.indices.allSatisfy {
            core.schema[$0].owner != nil || core.rowids(ObjectQuery(classIndex: $0), limit: 1).isEmpty
        }
    }
}
