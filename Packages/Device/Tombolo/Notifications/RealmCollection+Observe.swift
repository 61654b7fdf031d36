public import Dispatch
public import TomboloModel

/// Where a listener is called. The store's own.
public struct ObservationPlace {
    let confinement: Confinement
}

extension RealmCollection {
    /// Calls `block` with the collection soon, then after every commit, of whoever, that changed it.
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
    /// When the object of a list is deleted, or the one that LinkingObjects lead to, every element is told to be, and
    /// nothing afterwards. Lists of values inside embedded objects are written as a whole: what is told is how the values
    /// differ.
    ///
    /// - Parameters:
    ///   - keyPaths: which properties count as changes of an object, `["name", "room.name"]`; they may lead through
    ///     links, embedded objects, lists and LinkingObjects. Behind a name that is one of these, only which objects it
    ///     leads to counts. Objects that come, go or move are always told. Nil means every property, and those of objects
    ///     up to four links away.
    ///   - queue: a serial queue to call on, instead of where the Realm is used; the block gets the collection of a Realm
    ///     of that queue.
    /// - Returns: a token. Listening ends with it; it keeps the Realm open.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        _observe(keyPaths.map(KeyPathNames.split), in: ObservationPlace(queue), block)
    }

    /// The same with calls on an actor, which get the collection of a Realm of that actor.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        _observe(keyPaths.map(KeyPathNames.split), in: ObservationPlace(actor)) {
            ActorCall.run(block, $0, on: actor)
        }
    }
}

extension RealmCollection where Element: ObjectBase {
    /// The same with key paths: `observe(keyPaths: [\.name, \.room?.name])`.
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        _observe(KeyPathNames.names(of: keyPaths), in: ObservationPlace(queue), block)
    }

    /// The same with key paths and calls on an actor.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        _observe(KeyPathNames.names(of: keyPaths), in: ObservationPlace(actor)) {
            ActorCall.run(block, $0, on: actor)
        }
    }
}

extension ObservationPlace {
    /// Nil where calls are made where the Realm is used.
    fileprivate init?(_ queue: DispatchQueue?) {
        guard let queue else { return nil }
        confinement = .serial(queue)
    }

    fileprivate init(_ actor: some Actor) { confinement = .actor(actor) }
}
