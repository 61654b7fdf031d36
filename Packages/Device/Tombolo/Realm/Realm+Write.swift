public import TomboloModel

extension Realm {
    /// What adding an object does if one with its primary key exists.
    public enum UpdatePolicy: Int, Sendable {
        /// The write transaction fails.
        case error = 1
        /// Sets the properties that differ.
        case modified = 3
        /// Sets every property, even if it doesn't differ.
        case all = 2
    }

    /// Runs `block` in a write transaction on the newest version. If the block throws, everything is undone. Listeners
    /// of this Realm are called before `write` returns.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws; ``Realm/Error`` with the code `invalidInput` if a property was set to a value
    ///   it can't hold or an added object's primary key already exists, or with another code if the file can't be
    ///   written. When this throws, nothing is stored.
    @discardableResult
    public func write<Result>(_ block: () throws -> Result) throws -> Result {
        try core.begin()
        return try core.finishing(block)
    }

    /// Begins a write transaction on the newest version. Only one Realm of a file can be in a write transaction, so
    /// this waits for others. If the transaction can't begin, ``commitWrite()`` throws the reason.
    public func beginWrite() {
        do {
            try core.begin()
        } catch {
            core.beginFailed(error)
        }
    }

    /// Commits the write transaction.
    /// - Throws: ``Realm/Error``. The transaction is then cancelled.
    public func commitWrite() throws { try core.commit() }

    /// Undoes the write transaction. Objects added in it become invalid. Deleted objects come back, but their old
    /// instances stay invalid.
    public func cancelWrite() { core.cancel() }

    /// Whether this Realm is in a write transaction.
    public var isInWriteTransaction: Bool {
        core.confinement.check()
        return core.isInWrite
    }

    /// Adds an object and everything it links to. Call this in a write transaction. The objects become managed.
    public func add(_ object: Object, update: UpdatePolicy = .error) { core.add(object, update) }

    /// Adds several objects; see ``add(_:update:)-(Object,_)``.
    public func add(_ objects: some Sequence<some Object>, update: UpdatePolicy = .error) {
        for object in objects { core.add(object, update) }
    }

    /// Creates an object, or with `update` changes the one with its primary key, from a dictionary by property name, an
    /// array in property order, or another object. Properties that a dictionary lacks get their defaults in a new
    /// object and stay unchanged in an existing one.
    @discardableResult
    public func create<T: Object>(_ type: T.Type, value: Any = [String: Any](), update: UpdatePolicy = .error) -> T {
        guard let object = core.create(type, value, update)?.managedObject() as? T else { return T() }
        return object
    }

    /// Deletes an object, its embedded objects and its lists. Links to it become nil, and it's removed from lists. An
    /// embedded object is removed from its parent.
    public func delete(_ object: ObjectBase) { core.delete(object) }

    /// Deletes objects. An object that is in the sequence twice is deleted once.
    public func delete(_ objects: some Sequence<some ObjectBase>) {
        for object in Array(objects) where !object.isInvalidated { core.delete(object) }
    }

    /// Deletes all objects of the results.
    public func delete<Element: Object>(_ objects: Results<Element>) {
        guard objects.content.core === core else {
            programError("Can only delete objects from the Realm they belong to.")
        }
        core.delete(objects.content.query)
    }

    /// Deletes all objects of the Realm.
    public func deleteAll() { core.deleteAll() }
}
