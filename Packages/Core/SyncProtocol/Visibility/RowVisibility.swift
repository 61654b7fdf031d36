package import TomboloModel

/// A ``Visibility`` prepared for checking many objects.
package struct RowVisibility: Sendable {
    private let predicates: [Int: RowPredicate]

    package init(_ visibility: Visibility, in schema: Schema) {
        predicates = Dictionary(
            uniqueKeysWithValues: visibility.predicates.map { ($0.key, RowPredicate($0.value, of: schema[$0.key])) })
    }

    /// Whether an object with this row is visible. A nil row (erased or in the trash) never is.
    package func includes(_ row: Row?, classIndex: Int) -> Bool {
        guard let row, let predicate = predicates[classIndex] else { return false }
        return predicate.matches(row)
    }
}
