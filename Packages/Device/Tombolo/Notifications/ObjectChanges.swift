public import TomboloModel

/// The changes of an object from the start of the loop, for `for await`. If the reader is slow, everything that
/// happened in the meantime arrives as one change. Ends after the object is deleted or when the task is cancelled. May
/// only be used where the Realm may be used.
public struct ObjectChanges<T: ObjectBase>: AsyncSequence {
    public typealias Element = ObjectChange<T>
    public typealias Failure = Never

    let makeStream: () -> ChangeStream<ObjectChange<T>>

    public func makeAsyncIterator() -> Iterator {
        let stream = makeStream()
        stream.listen()
        return Iterator(stream: stream)
    }

    public struct Iterator: AsyncIteratorProtocol {
        let stream: ChangeStream<ObjectChange<T>>

        public mutating func next() async -> ObjectChange<T>? { await stream.next(isolation: #isolation) }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> ObjectChange<T>? {
            await stream.next(isolation: actor)
        }
    }
}

extension ObservableObjectClass where Self: ObjectBase {
    /// The object's changes: `for await change in person.changesets`. See ``observe(keyPaths:on:_:)``.
    public var changesets: ObjectChanges<Self> { changes(nil) }

    /// The same, for some properties only.
    public func changesets(keyPaths: [String]) -> ObjectChanges<Self> { changes(KeyPathNames.split(keyPaths)) }

    /// The same, with Swift key paths: `changesets(keyPaths: [\.name, \.room?.name])`.
    public func changesets(keyPaths: [PartialKeyPath<Self>]) -> ObjectChanges<Self> {
        changes(KeyPathNames.names(of: keyPaths))
    }

    private func changes(_ keyPaths: [[String]]?) -> ObjectChanges<Self> {
        let (part, core) = observed
        core.requireObservable()
        guard !isInvalidated else {
            programError("This \(Self.self) is deleted or invalidated and cannot be observed.")
        }
        return ObjectChanges {
            ChangeStream(core) { state, core, tell in Self.observation(part, keyPaths, state, core, tell) }
        }
    }
}
