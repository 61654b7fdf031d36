public import Dispatch
public import TomboloModel

/// Where a listener is called. For the library only.
public struct ObservationPlace {
    let confinement: Confinement
}

extension RealmCollection {
    /// Calls `block` with the collection soon, then after every commit, by anyone, that changed it.
    ///
    /// The first call is `.initial`. It may already include a write made right after this method returned. Each later
    /// call reports the difference from the previous call. Commits in quick succession may be merged. `block` is called
    /// where the Realm is used: automatically on its queue, its actor or the main thread; on other threads, and in
    /// tasks without an actor, during ``Realm/refresh()``.
    ///
    ///     token = realm.objects(Listing.self).where { $0.price < 300_000 }.observe { change in
    ///         switch change {
    ///         case .initial(let listings): show(listings)
    ///         case .update(let listings, let deletions, let insertions, let modifications): …
    ///         case .error(let error): …
    ///         }
    ///     }
    ///
    /// When a list's object, or the target of LinkingObjects, is deleted, all elements are reported as deleted, and no
    /// further call follows. Lists of values inside embedded objects are written as a whole, so their changes are found
    /// by comparing values.
    ///
    /// - Parameters:
    ///   - keyPaths: the properties whose changes count, `["name", "room.name"]`, possibly through links, embedded
    ///     objects, lists and LinkingObjects. If a path ends with one of these, a change of the set of objects it leads
    ///     to counts, but not changes inside them. Insertions, deletions and moves are always reported. Nil means all
    ///     properties, including those of objects up to four links away.
    ///   - queue: a serial queue on which to call `block`, with the collection in a Realm of that queue. Nil means the
    ///     place where this Realm is used.
    /// - Returns: a token. Releasing it ends the notifications. It keeps the Realm open.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        _observe(keyPaths.map(KeyPathNames.split), in: ObservationPlace(queue), block)
    }

    /// The same, but calls `block` on an actor, with the collection in a Realm of that actor.
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
    /// The same, with Swift key paths: `observe(keyPaths: [\.name, \.room?.name])`.
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        _observe(KeyPathNames.names(of: keyPaths), in: ObservationPlace(queue), block)
    }

    /// The same, with Swift key paths and calls on an actor.
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
    /// Nil if `block` is called where the Realm is used.
    fileprivate init?(_ queue: DispatchQueue?) {
        guard let queue else { return nil }
        confinement = .serial(queue)
    }

    fileprivate init(_ actor: some Actor) { confinement = .actor(actor) }
}
