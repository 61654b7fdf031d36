public import TomboloModel

extension LinkingObjects: ObservableCollection {
    var observed: (ObservedCollection, RealmCore) {
        guard let storage = storage as? LinkingRows else {
            programError(
                "Only LinkingObjects of managed objects can be observed: add their target object to a Realm first.")
        }
        return (.origins(storage.identity), storage.row.core)
    }

    func moved(to core: RealmCore) -> Self {
        guard let storage = storage as? LinkingRows else { return self }
        return Self(storage: storage.moved(to: core))
    }

    public func _observe(
        _ keyPaths: [[String]]?, in place: ObservationPlace?,
        _ block: @escaping (RealmCollectionChange<LinkingObjects<Element>>) -> Void
    ) -> NotificationToken {
        observe(keyPaths, in: place?.confinement, block)
    }
}
