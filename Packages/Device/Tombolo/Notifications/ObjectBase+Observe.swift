public import Dispatch
public import TomboloModel

/// The objects that can be observed, including embedded ones, each as its own class.
public protocol ObservableObjectClass: AnyObject {}

extension ObjectBase: ObservableObjectClass {}

extension ObservableObjectClass where Self: ObjectBase {
    /// Calls `block` after every commit, by anyone, that wrote properties of the object, even if their values are the
    /// same, and once when the object is deleted. Replacing a link or an embedded object counts. Changes inside the
    /// linked or embedded objects count only if a key path names them. There's no initial call.
    /// ``RealmCollection/observe(keyPaths:on:_:)`` describes where calls are made and how commits are merged.
    ///
    /// An embedded object counts as deleted when its parent is deleted, when it's removed from its parent, and when
    /// another embedded object replaces it.
    /// - Parameters:
    ///   - keyPaths: the properties to observe, `["name", "room.name"]`; nil for all of the object's own.
    ///   - queue: a serial queue on which to call `block`, with the object in a Realm of that queue. Nil means the
    ///     place where this Realm is used.
    /// - Returns: a token. Releasing it ends the notifications. It keeps the Realm open.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths.map(KeyPathNames.split), queue.map(Confinement.serial), block)
    }

    /// The same, with Swift key paths: `observe(keyPaths: [\.name, \.room?.name])`.
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(KeyPathNames.names(of: keyPaths), queue.map(Confinement.serial), block)
    }

    /// The same, calling on an actor, with the object in a Realm of that actor.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        observe(keyPaths.map(KeyPathNames.split), .actor(actor)) { ActorCall.run(block, $0, on: actor) }
    }

    /// The same, with Swift key paths and calling on an actor.
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

    /// What is observed, and its Realm.
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
