extension Results: ObservableCollection {
    var observed: (ObservedCollection, RealmCore) { (.query(content.query), content.core) }

    func moved(to core: RealmCore) -> Results<Element> { Results(core: core, query: content.query) }

    public func _observe(
        _ keyPaths: [[String]]?, in place: ObservationPlace?,
        _ block: @escaping (RealmCollectionChange<Results<Element>>) -> Void
    ) -> NotificationToken {
        observe(keyPaths, in: place?.confinement, block)
    }
}
