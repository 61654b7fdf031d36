public import TomboloModel

/// The objects that a session wants and may have: for each class the union of its subscriptions, narrowed by the rules.
/// Classes without an entry are invisible. List elements are visible with their owner, unless their list is hidden; see
/// ``hiddenLists(of:in:readable:)``.
public struct Visibility: Hashable, Sendable {
    /// The condition for each visible class, by class position. Never contains a ``Predicate/constant(_:)`` that is false.
    public private(set) var predicates: [Int: Predicate]
    /// The largest ``Predicate/partCount`` and ``Predicate/searchCount`` of any class, which bound the cost of matching
    /// a row.
    private let rowCost: (parts: Int, searches: Int)

    public init(predicates: [Int: Predicate]) {
        let visible = predicates.filter { $0.value != .constant(false) }
        self.predicates = visible
        rowCost = (visible.values.map(\.partCount).max() ?? 0, visible.values.map(\.searchCount).max() ?? 0)
    }

    /// An upper bound for the cost of matching a difference: comparisons plus bytes searched.
    public func matchingCost(changeCount: Int, byteCount: Int) -> Int {
        let compared = changeCount.multipliedReportingOverflow(by: rowCost.parts)
        let searched = byteCount.multipliedReportingOverflow(by: rowCost.searches)
        let sum = compared.partialValue.addingReportingOverflow(searched.partialValue)
        return compared.overflow || searched.overflow || sum.overflow ? .max : sum.partialValue
    }

    public static func == (left: Visibility, right: Visibility) -> Bool { left.predicates == right.predicates }

    public func hash(into hasher: inout Hasher) { hasher.combine(predicates) }

    /// - Parameter readable: the objects of a class that the rules let the user read, or false for none.
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

    /// The lists that a user can't read although they can read some of the objects that own them.
    /// - Parameters:
    ///   - classes: the positions of the classes to check. Classes other than element classes are skipped.
    ///   - readable: the objects that the user may read, by class position. For an element class: the objects whose
    ///     elements the user may read.
    /// - Returns: the positions of the lists' element classes.
    public static func hiddenLists(
        of classes: some Sequence<Int>, in schema: Schema, readable: (Int) -> Predicate
    ) -> Set<Int> {
        Set(
            classes.filter { index in
                schema[index].owner != nil && readable(index) == .constant(false)
                    && readable(schema.rootClassIndex(of: index)) != .constant(false)
            })
    }

    /// A session that sees nothing.
    public static let nothing = Visibility(predicates: [:])

    /// Whether an object with this row is visible. A nil row (erased or in the trash) never is.
    public func includes(_ row: Row?, classIndex: Int, schema: Schema) -> Bool {
        guard let row, let predicate = predicates[classIndex] else { return false }
        return predicate.matches(row, of: schema[classIndex])
    }
}
