public import Dispatch

extension Results: ObservableCollection {
    var observed: (ObservedCollection, RealmCore) { (.query(content.query), content.core) }

    func moved(to core: RealmCore) -> Results<Element> { Results(core: core, query: content.query) }

    /// Calls `block` with the results soon, then after every commit, of whoever, that changed them.
    ///
    /// The first call is `.initial`; it may show a write already that was made right after this call. Each further one
    /// tells what differs from the one before; commits that follow each other quickly may be told together. Calls are
    /// made where the Realm is used: on its queue or actor or on the main thread by themselves; on other threads and in
    /// tasks without an actor while ``Realm/refresh()`` runs.
    ///
    ///     token = realm.objects(Listing.self).where { $0.price < 300_000 }.observe { change in
    ///         switch change {
    ///         case .initial(let listings): show(listings)
    ///         case .update(let listings, let deletions, let insertions, let modifications): …
    ///         case .error(let error): …
    ///         }
    ///     }
    ///
    /// - Parameters:
    ///   - keyPaths: which properties count as changes of an object, `["name", "room.name"]`; they may lead through
    ///     links, embedded objects, lists and LinkingObjects. Behind a name that is one of these, only which objects it
    ///     leads to counts. Objects that come, go or move are always told. Nil means every property, and those of objects
    ///     up to four links away.
    ///   - queue: a serial queue to call on, instead of where the Realm is used; the block gets the results of a Realm
    ///     of that queue.
    /// - Returns: a token. Listening ends with it; it keeps the Realm open.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Results<Element>>) -> Void
    ) -> NotificationToken {
        observe(keyPaths.map(KeyPathNames.split), in: queue.map(Confinement.serial), block)
    }

    /// The same with calls on an actor, which get the results of a Realm of that actor.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Results<Element>>) -> Void
    ) async -> NotificationToken {
        observe(keyPaths.map(KeyPathNames.split), in: .actor(actor)) { ActorCall.run(block, $0, on: actor) }
    }
}

extension Results where Element: ObjectBase {
    /// The same with key paths: `observe(keyPaths: [\.name, \.room?.name])`.
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Results<Element>>) -> Void
    ) -> NotificationToken {
        observe(KeyPathNames.names(of: keyPaths), in: queue.map(Confinement.serial), block)
    }

    /// The same with key paths and calls on an actor.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Results<Element>>) -> Void
    ) async -> NotificationToken {
        observe(KeyPathNames.names(of: keyPaths), in: .actor(actor)) { ActorCall.run(block, $0, on: actor) }
    }
}
