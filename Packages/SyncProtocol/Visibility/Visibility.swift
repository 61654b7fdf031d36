public import TomboloModel

/// Which objects one session may and wants to have: for each class the union of its subscriptions, narrowed by what
/// the rules permit. Classes without an entry are invisible; list elements follow the object that has the list.
public struct Visibility: Hashable, Sendable {
    /// By class position; ``Predicate/constant(_:)`` false is left out.
    public private(set) var predicates: [Int: Predicate]

    public init(predicates: [Int: Predicate]) {
        self.predicates = predicates.filter { $0.value != .constant(false) }
    }

    /// - Parameter readable: what the rules let the subject read of a class; false where nothing permits it.
    public init(subscriptions: SubscriptionSet, schema: Schema, readable: (Int) -> Predicate) {
        var wanted: [Int: [Predicate]] = [:]
        for subscription in subscriptions.subscriptions {
            if let index = schema.index(of: subscription.className) {
                wanted[index, default: []].append(subscription.predicate)
            }
        }
        self.init(
            predicates: Dictionary(
                uniqueKeysWithValues: wanted.map { index, parts in
                    (index, Predicate.all([.any(parts), readable(index)]))
                }))
    }

    public static let nothing = Visibility(predicates: [:])

    /// Whether the session has the object, given its row; nil rows (erased, trashed) are never visible.
    public func includes(_ row: Row?, classIndex: Int, schema: Schema) -> Bool {
        guard let row, let predicate = predicates[classIndex] else { return false }
        return predicate.matches(row, of: schema[classIndex])
    }
}
