public import Dispatch
public import TomboloModel

extension List: ObservableCollection {
    var observed: (ObservedCollection, RealmCore) {
        switch storage {
        case let list as ManagedList: return (.list(list.identity), list.realmCore)
        case let array as ArrayList: return (.array(array.identity), array.place.host.core)
        default: programError("Only managed lists can be observed: add the list's object to a Realm first.")
        }
    }

    func moved(to core: RealmCore) -> Self {
        switch storage {
        case let list as ManagedList: Self(storage: list.moved(to: core))
        case let array as ArrayList: Self(storage: array.moved(to: core))
        default: self
        }
    }

    /// Calls `block` with the list soon, then after every commit that changed it: see ``Results/observe(keyPaths:on:_:)``.
    /// When the list's object is deleted, everything is told to be, and nothing afterwards.
    ///
    /// Lists of values inside embedded objects are written as a whole: what is told is how the values differ.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<List<Element>>) -> Void
    ) -> NotificationToken {
        observe(keyPaths.map(KeyPathNames.split), in: queue.map(Confinement.serial), block)
    }

    /// The same with calls on an actor, which get the list of a Realm of that actor.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<List<Element>>) -> Void
    ) async -> NotificationToken {
        observe(keyPaths.map(KeyPathNames.split), in: .actor(actor)) { ActorCall.run(block, $0, on: actor) }
    }
}

extension List where Element: ObjectBase {
    /// The same with key paths: `observe(keyPaths: [\.name, \.room?.name])`.
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<List<Element>>) -> Void
    ) -> NotificationToken {
        observe(KeyPathNames.names(of: keyPaths), in: queue.map(Confinement.serial), block)
    }

    /// The same with key paths and calls on an actor.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<List<Element>>) -> Void
    ) async -> NotificationToken {
        observe(KeyPathNames.names(of: keyPaths), in: .actor(actor)) { ActorCall.run(block, $0, on: actor) }
    }
}
