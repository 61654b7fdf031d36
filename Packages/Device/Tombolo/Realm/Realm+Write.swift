public import TomboloModel

extension Realm {
    /// What adding an object does where one with its primary key exists.
    public enum UpdatePolicy: Int, Sendable {
        /// The write transaction fails.
        case error = 1
        /// Changes the properties that differ.
        case modified = 3
        /// Writes every property, whether it differs or not.
        case all = 2
    }

    /// Runs `block` in a write transaction on the newest version. When it throws, everything is undone. Listeners of
    /// this Realm are called before `write` returns.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws; ``Realm/Error`` with the code `invalidInput` when a value was set that its
    ///   property cannot hold or an object was added twice, and with other codes when the file cannot be written.
    ///   Nothing is stored then.
    @discardableResult
    public func write<Result>(_ block: () throws -> Result) throws -> Result {
        try core.begin()
        return try core.finishing(block)
    }

    /// Begins a write transaction on the newest version. One Realm of a file at a time can be in one: this waits for
    /// the others. Where it cannot begin, ``commitWrite()`` throws the reason.
    public func beginWrite() {
        do {
            try core.begin()
        } catch {
            core.beginFailed(error)
        }
    }

    /// Stores what the write transaction did.
    /// - Throws: ``Realm/Error``; the transaction is cancelled then.
    public func commitWrite() throws { try core.commit() }

    /// Undoes what the write transaction did. Objects added in it become invalid; deleted objects are back, but
    /// instances that pointed to them stay invalid.
    public func cancelWrite() { core.cancel() }

    public var isInWriteTransaction: Bool {
        core.confinement.check()
        return core.isInWrite
    }

    /// Adds an object, and with it everything that its links and lists lead to. The object becomes managed.
    public func add(_ object: Object, update: UpdatePolicy = .error) { core.add(object, update) }

    public func add(_ objects: some Sequence<some Object>, update: UpdatePolicy = .error) {
        for object in objects { core.add(object, update) }
    }

    /// Makes an object, or with `update` changes the one with its primary key: from a dictionary by property names,
    /// an array in the order of properties, or another object. What a dictionary does not name gets its default in a
    /// new object and stays as it is in an existing one.
    @discardableResult
    public func create<T: Object>(_ type: T.Type, value: Any = [String: Any](), update: UpdatePolicy = .error) -> T {
        guard let object = core.create(type, value, update)?.managedObject() as? T else { return T() }
        return object
    }

    /// Deletes an object, its embedded objects and the elements of its lists. Links to it read nil, and it leaves the
    /// lists it was in. An embedded object leaves its parent.
    public func delete(_ object: ObjectBase) { core.delete(object) }

    /// Deletes objects; one that is there twice is deleted once.
    public func delete(_ objects: some Sequence<some ObjectBase>) {
        for object in Array(objects) where !object.isInvalidated { core.delete(object) }
    }

    /// Deletes what a query finds.
    public func delete<Element: Object>(_ objects: Results<Element>) {
        guard objects.content.core === core else {
            programError("Can only delete objects from the Realm they belong to.")
        }
        core.delete(objects.content.query)
    }

    /// Deletes every object of the Realm's classes.
    public func deleteAll() { core.deleteAll() }
}
