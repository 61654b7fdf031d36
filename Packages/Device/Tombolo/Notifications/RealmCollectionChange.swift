/// A change of an observed collection.
public enum RealmCollectionChange<CollectionType> {
    /// The first notification: the collection as it is now.
    case initial(CollectionType)
    /// Elements were inserted, deleted, moved or modified. To update a copy of the old collection, remove the elements
    /// at `deletions` from last to first, then insert those at `insertions` from first to last. `deletions` and
    /// `modifications` are positions in the old collection, `insertions` in the new one; all are in ascending order. A
    /// moved element appears in both `deletions` and `insertions`.
    case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
    /// The collection can't be observed, because its Realm couldn't be opened in the requested place.
    case error(any Error)

    init(_ event: CollectionEvent, _ collection: CollectionType) {
        switch event {
        case .initial: self = .initial(collection)
        case .update(let difference):
            self = .update(
                collection, deletions: difference.deletions, insertions: difference.insertions,
                modifications: difference.modifications)
        }
    }

    /// The same change with the collection transformed.
    func map<Other>(_ transform: (CollectionType) -> Other) -> RealmCollectionChange<Other> {
        switch self {
        case .initial(let collection): .initial(transform(collection))
        case .update(let collection, let deletions, let insertions, let modifications):
            .update(
                transform(collection), deletions: deletions, insertions: insertions, modifications: modifications)
        case .error(let error): .error(error)
        }
    }
}
