public import TomboloModel

/// Which objects one session may and wants to have: for each class the union of its subscriptions, narrowed by what
/// the rules permit. Classes without an entry are invisible; list elements follow the object that has the list.
public struct Visibility: Hashable, Sendable {
    /// By class position; ``Predicate/constant(_:)`` false is left out.
    public private(set) var predicates: [Int: Predicate]
    /// The largest ``Predicate/partCount`` and ``Predicate/searchCount`` of a class: what one row costs at most.
    private let rowCost: (parts: Int, searches: Int)

    public init(predicates: [Int: Predicate]) {
        let visible = predicates.filter { $0.value != .constant(false) }
        self.predicates = visible
        rowCost = (visible.values.map(\.partCount).max() ?? 0, visible.values.map(\.searchCount).max() ?? 0)
    }

    /// Roughly what it takes to match a difference, in comparisons and in bytes that are searched: no more than this.
    public func matchingCost(changeCount: Int, byteCount: Int) -> Int {
        let compared = changeCount.multipliedReportingOverflow(by: rowCost.parts)
        let searched = byteCount.multipliedReportingOverflow(by: rowCost.searches)
        let sum = compared.partialValue.addingReportingOverflow(searched.partialValue)
        return compared.overflow || searched.overflow || sum.overflow ? .max : sum.partialValue
    }

    public static func == (left: Visibility, right: Visibility) -> Bool { left.predicates == right.predicates }

    public func hash(into hasher: inout Hasher) { hasher.combine(predicates) }

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
