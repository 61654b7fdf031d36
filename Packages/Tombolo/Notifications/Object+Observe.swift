public import Dispatch
public import TomboloModel

/// Objects, each as its own class.
public protocol ObservableObjectClass: AnyObject {}

extension Object: ObservableObjectClass {}

extension ObservableObjectClass where Self: Object {
    /// Calls `block` after every commit, of whoever, that wrote properties of the object, whether their values differ
    /// or not, and once when the object was deleted. What links lead to does not count, unless a key path names it;
    /// which objects are linked to does. There is no call at the beginning. Where calls are made, and how commits are
    /// told together, is as for ``Results/observe(keyPaths:on:_:)``.
    /// - Parameters:
    ///   - keyPaths: the properties to listen to, `["name", "room.name"]`; nil for all of the object's own.
    ///   - queue: a serial queue to call on, instead of where the Realm is used; the block gets the object of a Realm of
    ///     that queue.
    /// - Returns: a token. Listening ends with it; it keeps the Realm open.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths.map(KeyPathNames.split), queue.map(Confinement.serial), block)
    }

    /// The same with key paths: `observe(keyPaths: [\.name, \.room?.name])`.
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(KeyPathNames.names(of: keyPaths), queue.map(Confinement.serial), block)
    }

    /// The same with calls on an actor, which get the object of a Realm of that actor.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        observe(keyPaths.map(KeyPathNames.split), .actor(actor)) { ActorCall.run(block, $0, on: actor) }
    }

    /// The same with key paths and calls on an actor.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        observe(KeyPathNames.names(of: keyPaths), .actor(actor)) { ActorCall.run(block, $0, on: actor) }
    }

    private func observe(
        _ keyPaths: [[String]]?, _ place: Confinement?, _ tell: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        guard let row = accessor as? ManagedRow else {
            programError("Only managed objects can be observed: add this \(Self.self) to a Realm first.")
        }
        let core = row.core
        core.requireObservable()
        guard row.isValid else { programError("This \(Self.self) is deleted or invalidated and cannot be observed.") }
        let (classIndex, rowID) = (row.classIndex, row.rowid)
        let state = ObservationState()
        func make(_ core: RealmCore) -> ObjectObservation {
            let scope = keyPaths.map { ChangeScope($0, of: classIndex, core) }
            var paths: [WatchedPath]?
            if case .paths(let watched) = scope { paths = watched }
            return ObjectObservation(state, core, classIndex, rowID, paths) { event in
                switch event {
                case .deleted: tell(.deleted)
                case .change(let object, let properties):
                    if let object = object as? Self { tell(.change(object, properties)) }
                }
            }
        }
        let observation = make(core)
        guard let place else { return core.observe(observation) }
        return core.observe(in: place, state, make) { tell(.error($0)) }
    }
}
