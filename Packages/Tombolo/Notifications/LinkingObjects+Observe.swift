public import Dispatch
public import TomboloModel

extension LinkingObjects: ObservableCollection {
    var observed: (ObservedCollection, RealmCore) {
        guard let storage = storage as? LinkingRows else {
            programError(
                "Only LinkingObjects of managed objects can be observed: add the object that they link to to a Realm "
                    + "first.")
        }
        return (.origins(storage.identity), storage.row.core)
    }

    func moved(to core: RealmCore) -> Self {
        guard let storage = storage as? LinkingRows else { return self }
        return Self(storage: storage.moved(to: core))
    }

    /// Calls `block` with the objects that link here soon, then after every commit that changed them or which they are:
    /// see ``Results/observe(keyPaths:on:_:)``. When the object that they link to is deleted, everything is told to be,
    /// and nothing afterwards.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<LinkingObjects<Element>>) -> Void
    ) -> NotificationToken {
        observe(keyPaths.map(KeyPathNames.split), in: queue.map(Confinement.serial), block)
    }

    /// The same with key paths: `observe(keyPaths: [\.name, \.room?.name])`.
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<LinkingObjects<Element>>) -> Void
    ) -> NotificationToken {
        observe(KeyPathNames.names(of: keyPaths), in: queue.map(Confinement.serial), block)
    }

    /// The same with calls on an actor, which get the objects of a Realm of that actor.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<LinkingObjects<Element>>) -> Void
    ) async -> NotificationToken {
        observe(keyPaths.map(KeyPathNames.split), in: .actor(actor)) { ActorCall.run(block, $0, on: actor) }
    }

    /// The same with key paths and calls on an actor.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<LinkingObjects<Element>>) -> Void
    ) async -> NotificationToken {
        observe(KeyPathNames.names(of: keyPaths), in: .actor(actor)) { ActorCall.run(block, $0, on: actor) }
    }
}
