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

    public func _observe(
        _ keyPaths: [[String]]?, in place: ObservationPlace?,
        _ block: @escaping (RealmCollectionChange<List<Element>>) -> Void
    ) -> NotificationToken {
        observe(keyPaths, in: place?.confinement, block)
    }
}
