internal import TomboloModel

/// A collection as it can be found again in another Realm of the file.
enum ObservedCollection {
    case query(ObjectQuery)
    case list(ListIdentity)

    func rows(_ core: RealmCore) -> any ObservedRows {
        switch self {
        case .query(let query): QueryRows(core, query)
        case .list(let list): ListRows(core, list)
        }
    }

    /// The class whose properties key paths begin with.
    func elementClass(_ core: RealmCore) -> Int? {
        switch self {
        case .query(let query): return query.classIndex
        case .list(let list):
            let type = core.classes[list.elementClass]
            if type.isListOfLinks { return type.linkTargets[ElementColumn.target] }
            return type.isListOfEmbedded ? type.index : nil
        }
    }

    func scope(_ keyPaths: [[String]]?, _ core: RealmCore) -> ChangeScope {
        elementClass(core).map { ChangeScope(keyPaths, of: $0, core) } ?? .deep
    }
}

/// Collections that can be observed.
protocol ObservableCollection {
    /// What is observed, and in which Realm. Stops the program where nothing can be.
    var observed: (ObservedCollection, RealmCore) { get }
    /// The same collection in another Realm of the file.
    func moved(to core: RealmCore) -> Self
}

extension ObservableCollection {
    func observation(
        _ keyPaths: [[String]]?, _ state: ObservationState, _ collection: Self, _ core: RealmCore,
        _ tell: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> CollectionObservation {
        let (identity, _) = collection.observed
        return CollectionObservation(state, identity.rows(core), identity.scope(keyPaths, core)) { event in
            tell(RealmCollectionChange(event, collection))
        }
    }

    func observe(
        _ keyPaths: [[String]]?, in place: Confinement?, _ tell: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        let (identity, core) = observed
        core.requireObservable()
        // Wrong key paths are noticed by who gave them.
        _ = identity.scope(keyPaths, core)
        let state = ObservationState()
        guard let place else { return core.observe(observation(keyPaths, state, self, core, tell)) }
        return core.observe(in: place, state) { [self] other in
            let collection = moved(to: other)
            return collection.observation(keyPaths, state, collection, other, tell)
        } failed: { error in
            tell(.error(error))
        }
    }
}
