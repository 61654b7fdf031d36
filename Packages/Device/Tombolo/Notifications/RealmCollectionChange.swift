/// What happened to an observed collection.
public enum RealmCollectionChange<CollectionType> {
    /// The first notification: the collection as it is now.
    case initial(CollectionType)
    /// Objects came, went, moved or changed. To bring a copy of the old collection up to date, remove what is at
    /// `deletions` from the last to the first, then insert what is at `insertions` from the first to the last.
    /// `deletions` and `modifications` are positions in the old collection, `insertions` in the new one; all ascend. An
    /// object that moved is deleted and inserted.
    case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
    /// The collection cannot be observed: its Realm could not be opened where it was to be.
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

    /// The same change, of the collection as something else.
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
