internal import TomboloModel

/// Identifies a collection in every Realm of the file.
enum ObservedCollection {
    case query(ObjectQuery)
    case list(ListIdentity)
    /// A list stored in one column.
    case array(ArrayIdentity)
    case origins(OriginIdentity)

    /// An observation in one of the file's Realms.
    func observation(
        _ keyPaths: [[String]]?, _ state: ObservationState, _ core: RealmCore,
        _ tell: @escaping (CollectionEvent) -> Void
    ) -> Observation {
        let rows: any ObservedRows
        switch self {
        case .query(let query): rows = QueryRows(core, query)
        case .list(let list): rows = ListRows(core, list)
        case .array(let array): return ArrayObservation(state, core, array, tell)
        case .origins(let identity):
            guard let origin = LinkOriginRows(identity.origin, to: identity.hostClass, core.layout) else {
                programError("'\(identity.origin.className)' has no such LinkingObjects.")
            }
            rows = OriginRows(core, identity, origin)
        }
        return CollectionObservation(state, core, rows, scope(keyPaths, core), tell)
    }

    /// The class where key paths start.
    func elementClass(_ core: RealmCore) -> Int? {
        switch self {
        case .query(let query): return query.classIndex
        case .list(let list):
            let type = core.classes[list.elementClass]
            if type.isListOfLinks { return type.linkTargets[ElementColumn.target] }
            return type.isListOfEmbedded ? type.index : nil
        case .array: return nil
        case .origins(let identity): return core.schema.index(of: identity.origin.className)
        }
    }

    func scope(_ keyPaths: [[String]]?, _ core: RealmCore) -> ChangeScope {
        elementClass(core).map { ChangeScope(keyPaths, of: $0, core) } ?? .deep
    }
}

/// Collections that can be observed.
protocol ObservableCollection {
    /// The observed collection and its Realm. Stops the program if it can't be observed.
    var observed: (ObservedCollection, RealmCore) { get }
    /// The same collection in another Realm of the file.
    func moved(to core: RealmCore) -> Self
}

extension ObservableCollection {
    func observation(
        _ keyPaths: [[String]]?, _ state: ObservationState, _ collection: Self, _ core: RealmCore,
        _ tell: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> Observation {
        let (identity, _) = collection.observed
        return identity.observation(keyPaths, state, core) { tell(RealmCollectionChange($0, collection)) }
    }

    func observe(
        _ keyPaths: [[String]]?, in place: Confinement?, _ tell: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        let (identity, core) = observed
        core.requireObservable()
        // Checks the key paths right away, so that mistakes are reported to the caller.
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
