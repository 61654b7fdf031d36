public import TomboloModel

/// The changes of a collection, for `for await`. If the reader is slow, everything that happened in the meantime
/// arrives as one change. Ends when the task is cancelled. May only be used where the Realm may be used.
public struct CollectionChanges<Collection>: AsyncSequence {
    public typealias Element = RealmCollectionChange<Collection>
    public typealias Failure = Never

    let makeStream: () -> ChangeStream<RealmCollectionChange<Collection>>

    public func makeAsyncIterator() -> Iterator { Iterator(stream: makeStream()) }

    public struct Iterator: AsyncIteratorProtocol {
        let stream: ChangeStream<RealmCollectionChange<Collection>>

        public mutating func next() async -> RealmCollectionChange<Collection>? {
            await stream.next(isolation: #isolation)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async -> RealmCollectionChange<Collection>? {
            await stream.next(isolation: actor)
        }
    }
}

/// The collection, each time it has changed, for `for await`; see ``CollectionChanges``.
public struct CollectionValues<Collection>: AsyncSequence {
    public typealias Element = Collection
    public typealias Failure = Never

    let changes: CollectionChanges<Collection>

    public func makeAsyncIterator() -> Iterator { Iterator(changes: changes.makeAsyncIterator()) }

    public struct Iterator: AsyncIteratorProtocol {
        var changes: CollectionChanges<Collection>.Iterator

        public mutating func next() async -> Collection? { await next(isolation: #isolation) }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> Collection? {
            while let change = await changes.next(isolation: actor) {
                switch change {
                case .initial(let collection), .update(let collection, _, _, _): return collection
                case .error: continue
                }
            }
            return nil
        }
    }
}

extension ObservableCollection {
    func changes(_ keyPaths: [[String]]?) -> CollectionChanges<Self> {
        let (_, core) = observed
        return CollectionChanges {
            ChangeStream(core) { state, core, tell in observation(keyPaths, state, self, core, tell) }
        }
    }
}

extension Results {
    /// The results now, then each change to them: `for await change in results.changesets`.
    public var changesets: CollectionChanges<Results<Element>> { changes(nil) }

    /// The same, for some properties only; see ``observe(keyPaths:on:_:)``.
    public func changesets(keyPaths: [String]) -> CollectionChanges<Results<Element>> {
        changes(KeyPathNames.split(keyPaths))
    }

    /// The results now and after each change: `for await listings in results.values`.
    public var values: CollectionValues<Results<Element>> { CollectionValues(changes: changesets) }
}

extension List {
    /// The list now, then each change to it: `for await change in list.changesets`.
    public var changesets: CollectionChanges<List<Element>> { changes(nil) }

    /// The same, for some properties only; see ``RealmCollection/observe(keyPaths:on:_:)``.
    public func changesets(keyPaths: [String]) -> CollectionChanges<List<Element>> {
        changes(KeyPathNames.split(keyPaths))
    }

    /// The list now and after each change: `for await speakers in session.speakers.values`.
    public var values: CollectionValues<List<Element>> { CollectionValues(changes: changesets) }
}

extension LinkingObjects {
    /// The objects that link here now, then each change to them: `for await change in dog.owners.changesets`.
    public var changesets: CollectionChanges<LinkingObjects<Element>> { changes(nil) }

    /// The same, for some properties only; see ``RealmCollection/observe(keyPaths:on:_:)``.
    public func changesets(keyPaths: [String]) -> CollectionChanges<LinkingObjects<Element>> {
        changes(KeyPathNames.split(keyPaths))
    }

    /// The objects that link here now and after each change: `for await owners in dog.owners.values`.
    public var values: CollectionValues<LinkingObjects<Element>> { CollectionValues(changes: changesets) }
}
