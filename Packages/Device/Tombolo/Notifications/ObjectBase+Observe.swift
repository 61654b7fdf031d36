public import Dispatch
public import TomboloModel

/// Objects, embedded ones too, each as its own class.
public protocol ObservableObjectClass: AnyObject {}

extension ObjectBase: ObservableObjectClass {}

extension ObservableObjectClass where Self: ObjectBase {
    /// Calls `block` after every commit, of whoever, that wrote properties of the object, whether their values differ
    /// or not, and once when the object was deleted. What links, embedded objects and LinkingObjects lead to does not
    /// count, unless a key path names it; which objects they are does. There is no call at the beginning. Where calls
    /// are made, and how commits are told together, is as for ``RealmCollection/observe(keyPaths:on:_:)``.
    ///
    /// An embedded object is deleted with the object that it is in, when it leaves it, and when another takes its place.
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
        let (part, core) = observed
        core.requireObservable()
        guard !isInvalidated else {
            programError("This \(Self.self) is deleted or invalidated and cannot be observed.")
        }
        let state = ObservationState()
        let make = { (core: RealmCore) in Self.observation(part, keyPaths, state, core, tell) }
        let observation = make(core)
        guard let place else { return core.observe(observation) }
        return core.observe(in: place, state, make) { tell(.error($0)) }
    }

    /// What is observed, and in which Realm.
    var observed: (PartIdentity, RealmCore) {
        switch accessor {
        case let row as ManagedRow: return (PartIdentity(row), row.core)
        case let embedded as EmbeddedAccessor: return (embedded.place.identity, embedded.place.host.core)
        default: programError("Only managed objects can be observed: add this \(Self.self) to a Realm first.")
        }
    }

    static func observation(
        _ part: PartIdentity, _ keyPaths: [[String]]?, _ state: ObservationState, _ core: RealmCore,
        _ tell: @escaping (ObjectChange<Self>) -> Void
    ) -> ObjectObservation {
        ObjectObservation(state, core, part, keyPaths) { event in
            switch event {
            case .deleted: tell(.deleted)
            case .change(let object, let properties):
                if let object = object as? Self { tell(.change(object, properties)) }
            }
        }
    }
}
