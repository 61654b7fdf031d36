public import Foundation
internal import TomboloModel
internal import TomboloSQLiteStore
internal import TomboloSyncProtocol

/// A subscription of a ``SyncSubscriptionSet``.
public struct SyncSubscription {
    let set: SyncSubscriptionSet
    let note: SubscriptionNote
    let subscription: Subscription

    /// The name, or nil for an unnamed subscription.
    public var name: String? { subscription.name }
    /// When it was added.
    public var createdAt: Date { note.createdAt }
    /// When its query was last changed or asked for again.
    public var updatedAt: Date { note.updatedAt }

    /// Gives the subscription another query of the same class, or subscribes to all of the class's objects. Only call
    /// this inside ``SyncSubscriptionSet/update(_:onComplete:)``.
    public func updateQuery<T: Object>(toType type: T.Type, where query: ((Query<T>) -> Query<Bool>)? = nil) {
        update(to: QuerySubscription<T>(query: query))
    }

    /// The same, with a string predicate: `updateQuery(toType: Listing.self, where: "price < %@", 300_000)`.
    public func updateQuery<T: Object>(toType type: T.Type, where format: String, _ arguments: Any?...) {
        update(to: QuerySubscription<T>(format: format, arguments: arguments))
    }

    private func update<T: Object>(to query: QuerySubscription<T>) {
        set.draft.edit { [note] draft, schema in
            guard let index = draft.notes.firstIndex(where: { $0.id == note.id }) else {
                return "The subscription to update is no longer in the set."
            }
            let old = draft.set.subscriptions[index]
            guard old.className == String(describing: T.self) else {
                return
                    "A subscription to \(old.className) can't be changed to one to \(T.self): remove it, and append a new "
                    + "one."
            }
            return draft.put(query, name: old.name, at: index, schema)
        }
    }
}

extension SubscriptionFile.Kept {
    /// Replaces the subscription at an index, or appends one if the index is nil.
    /// - Returns: why the change can't be made, or nil if it was made.
    mutating func put<T: Object>(
        _ query: QuerySubscription<T>, name: String?, at index: Int?, _ schema: Schema
    ) -> String? {
        let new: Subscription
        do throws(ValueError) {
            new = Subscription(
                name: name, className: String(describing: T.self), predicate: try query.predicate(in: schema))
        } catch {
            return error.message
        }
        if let index {
            set.subscriptions[index] = new
            notes[index].updatedAt = Date()
        } else {
            set.subscriptions.append(new)
            notes.append(SubscriptionNote(at: Date()))
        }
        return nil
    }

    mutating func removeAll(where condition: (Subscription, SubscriptionNote) -> Bool) {
        let kept = zip(set.subscriptions, notes).filter { !condition($0, $1) }
        set.subscriptions = kept.map(\.0)
        notes = kept.map(\.1)
    }

    /// The position of the subscription with this query, whatever its name. Prefers the unnamed one.
    func index(of subscription: Subscription) -> Int? {
        let same = set.subscriptions.indices.filter {
            set.subscriptions[$0].className == subscription.className
                && set.subscriptions[$0].predicate == subscription.predicate
        }
        return same.first { set.subscriptions[$0].name == nil } ?? same.first
    }
}
