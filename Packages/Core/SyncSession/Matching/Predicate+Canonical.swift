package import TomboloModel

extension Predicate {
    /// The same condition in one canonical form, so that devices with equivalent conditions share one evaluation.
    /// Nested conjunctions and disjunctions are flattened; their parts and the literals of `IN` are sorted, without
    /// duplicates; equalities in a disjunction are joined in an `IN`; double negations and constants are removed. Cheap
    /// parts come first.
    package var canonical: Predicate {
        switch self {
        case .constant, .compare, .text: return self
        case .isIn(let path, let literals):
            let literals = literals.sortedWithoutRepeats { $0.totalOrder($1) }
            return switch literals.count {
            case 0: .constant(false)
            case 1: .compare(path, .equal, literals[0])
            default: .isIn(path, literals)
            }
        case .and(let parts):
            let flat = Predicate.all(parts.map(\.canonical))
            guard case .and(let parts) = flat else { return flat }
            return .all(parts.sortedWithoutRepeats { $0.order($1) })
        case .or(let parts):
            let flat = Predicate.any(parts.map(\.canonical))
            guard case .or(let parts) = flat else { return flat }
            return .any(Self.joiningValues(parts).sortedWithoutRepeats { $0.order($1) })
        case .not(let inner):
            return switch inner.canonical {
            case .constant(let result): .constant(!result)
            case .not(let twice): twice
            case .compare(let path, .equal, let literal): .compare(path, .notEqual, literal)
            case .compare(let path, .notEqual, let literal): .compare(path, .equal, literal)
            case let inner: .not(inner)
            }
        }
    }

    /// Joins the values that the parts of a disjunction look for in one property into one `IN`. Sorting a thousand
    /// subscriptions as separate conditions took tens of milliseconds.
    private static func joiningValues(_ parts: [Predicate]) -> [Predicate] {
        var literals: [PropertyPath: [Value]] = [:]
        var others: [Predicate] = []
        for part in parts {
            switch part {
            case .compare(let path, .equal, let literal): literals[path, default: []].append(literal)
            case .isIn(let path, let some): literals[path, default: []] += some
            default: others.append(part)
            }
        }
        return others + literals.map { Predicate.isIn($0.key, $0.value).canonical }
    }

    /// Returns -1, 0 or 1: a total order of written forms, in which only equal forms compare as equal.
    private func order(_ other: Predicate) -> Int {
        switch (self, other) {
        case (.constant(let a), .constant(let b)): a == b ? 0 : (b ? -1 : 1)
        case (.compare(let pathA, let comparisonA, let a), .compare(let pathB, let comparisonB, let b)):
            Self.first(comparisonA.rank.order(comparisonB.rank), pathA.order(pathB), a.totalOrder(b))
        case (.isIn(let pathA, let a), .isIn(let pathB, let b)):
            Self.first(pathA.order(pathB), a.order(b) { $0.totalOrder($1) })
        case (.text(let pathA, let testA, let a, let foldsA), .text(let pathB, let testB, let b, let foldsB)):
            Self.first(
                testA.rank.order(testB.rank), pathA.order(pathB), Value.string(a).totalOrder(.string(b)),
                (foldsA ? 1 : 0).order(foldsB ? 1 : 0))
        case (.and(let a), .and(let b)), (.or(let a), .or(let b)): a.order(b) { $0.order($1) }
        case (.not(let a), .not(let b)): a.order(b)
        default: rank.order(other.rank)
        }
    }

    private static func first(_ orders: Int...) -> Int { orders.first { $0 != 0 } ?? 0 }

    private var rank: Int {
        switch self {
        case .constant: 0
        case .compare: 1
        case .isIn: 2
        case .text: 3
        case .not: 4
        case .and: 5
        case .or: 6
        }
    }
}

extension Predicate.Comparison {
    fileprivate var rank: Int {
        switch self {
        case .equal: 0
        case .less: 1
        case .lessOrEqual: 2
        case .greater: 3
        case .greaterOrEqual: 4
        case .notEqual: 5
        }
    }
}

extension Predicate.TextTest {
    fileprivate var rank: Int {
        switch self {
        case .beginsWith: 0
        case .endsWith: 1
        case .contains: 2
        }
    }
}

extension PropertyPath {
    /// Names are compared as Swift compares strings, which matches the equality of paths.
    fileprivate func order(_ other: PropertyPath) -> Int {
        names.order(other.names) { $0 == $1 ? 0 : ($0 < $1 ? -1 : 1) }
    }
}

extension Int {
    fileprivate func order(_ other: Int) -> Int { self == other ? 0 : (self < other ? -1 : 1) }
}

extension Array {
    fileprivate func order(_ other: [Element], by order: (Element, Element) -> Int) -> Int {
        for (left, right) in zip(self, other) {
            let result = order(left, right)
            if result != 0 { return result }
        }
        return count.order(other.count)
    }

    /// Sorts the elements and keeps one of each group that compares as equal.
    fileprivate func sortedWithoutRepeats(by order: (Element, Element) -> Int) -> [Element] {
        sorted { order($0, $1) < 0 }.reduce(into: []) { kept, element in
            if let last = kept.last, order(last, element) == 0 { return }
            kept.append(element)
        }
    }
}
