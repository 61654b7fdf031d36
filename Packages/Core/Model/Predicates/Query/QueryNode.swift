/// The thing a ``Query`` stands for.
package enum QueryNode {
    /// A property, an object, or the elements of a list.
    case path(QueryPath)
    /// A number computed from a list.
    case operand(FilterOperand)
    case condition(Filter)
}

/// The names from an object to the thing a ``Query`` stands for.
package struct QueryPath {
    package var names: [String] = []
    /// The number of names up to the elements of the last list; 0 without a list.
    package var collectionNameCount = 0

    package init() {}

    /// The list and the operand of its elements, or nil without a list.
    var split: (collection: PropertyPath, rest: FilterOperand)? {
        guard collectionNameCount > 0 else { return nil }
        let rest = Array(names.dropFirst(collectionNameCount))
        return (
            PropertyPath(Array(names.prefix(collectionNameCount))),
            rest.isEmpty ? .element : .property(PropertyPath(rest))
        )
    }

    var operand: FilterOperand { names.isEmpty ? .element : .property(PropertyPath(names)) }
}

extension QueryNode {
    /// A condition on the operand. For a list's elements, it must hold for at least one.
    func test(_ condition: (FilterOperand) -> Filter) -> Filter {
        switch self {
        case .operand(let operand): return condition(operand)
        case .condition: preconditionFailure("The query compares a condition with a value; combine it by &&, || and !.")
        case .path(let path):
            guard let (collection, rest) = path.split else { return condition(path.operand) }
            return .quantified(.any, collection, condition(rest))
        }
    }

    /// A comparison of two properties, one of which may be in a list.
    func compare(_ comparison: Predicate.Comparison, _ other: QueryNode, _ options: StringOptions = []) -> Filter {
        if case .path(let path) = other, path.split != nil {
            if case .path(let own) = self, own.split != nil {
                preconditionFailure("The query compares two lists; one side of a comparison can be a list.")
            }
            return other.compare(comparison.mirrored, self, options)
        }
        let right: FilterOperand =
            switch other {
            case .path(let path): path.operand
            case .operand(let operand): operand
            case .condition: preconditionFailure("The query compares a property with a condition.")
            }
        return test { .compare($0, comparison, isInList ? right.seenFromElement() : right, options) }
    }

    var isInList: Bool { if case .path(let path) = self { path.collectionNameCount > 0 } else { false } }
}
