internal import TomboloModel

/// One way to find a predicate for a row: the row's value in a column equals a given one, or lies in an interval.
enum Access: Hashable, Sendable {
    case value(Value, column: Int)
    case interval(Interval, column: Int)
}

/// A set of accesses such that every row that satisfies a predicate satisfies at least one of them. The converse
/// needn't hold: what a cover finds is only a candidate. A predicate that no row satisfies has an empty cover.
struct Cover: Sendable {
    /// The maximum number of accesses for one predicate, which bounds the memory that a device's predicate takes in an
    /// index. A predicate with a larger `IN` is evaluated for every row.
    static let maximumAccessCount = 512

    private(set) var accesses: [Access] = []
    /// The breadth of the broadest access.
    private var breadth = Breadth.none

    /// How many rows an access is likely to find, from few to many.
    private enum Breadth: Int, Comparable {
        case none
        case value
        case boundedInterval
        case openInterval
        /// Nil or a Boolean, which many rows have.
        case commonValue

        static func < (left: Breadth, right: Breadth) -> Bool { left.rawValue < right.rawValue }
    }

    /// Whether a row may satisfy several of the accesses.
    var mayRepeat: Bool {
        var first: Int?
        for access in accesses {
            guard case .value(_, let column) = access, column == first ?? column else { return accesses.count > 1 }
            first = column
        }
        return false
    }

    /// A cover without accesses.
    private init() {}

    private init(_ interval: Interval, column: Int) {
        guard !interval.isEmpty else { return }
        accesses = [.interval(interval, column: column)]
        breadth = interval.isBounded ? .boundedInterval : .openInterval
    }

    /// The best cover of a predicate, which is always the same one. Nil if there is none with at most
    /// ``maximumAccessCount`` accesses.
    init?(of predicate: Predicate, in item: ClassSchema) {
        guard let cover = Self.cover(of: predicate, isNegated: false, in: item) else { return nil }
        self = cover
        guard accesses.count > 1 else { return }
        var seen: Set<Access> = []
        accesses.removeAll { !seen.insert($0).inserted }
    }

    private static func cover(of predicate: Predicate, isNegated: Bool, in item: ClassSchema) -> Cover? {
        switch (predicate, isNegated) {
        case (.constant(let result), _): result == isNegated ? Cover() : nil
        case (.not(let inner), _): cover(of: inner, isNegated: !isNegated, in: item)
        case (.compare(let path, .equal, let literal), false), (.compare(let path, .notEqual, let literal), true):
            cover(of: [literal], at: path, in: item)
        case (.isIn(let path, let literals), false): cover(of: literals, at: path, in: item)
        case (.and, false), (.or, true): conjunction(predicate, isNegated, in: item)
        case (.or(let parts), false), (.and(let parts), true): disjunction(parts, isNegated, in: item)
        case (.compare, false), (.text, false):
            predicate.interval.flatMap { path, interval in cover(of: interval, at: path, in: item) }
        case (.compare, true), (.isIn, true), (.text, true): nil
        }
    }

    private static func cover(of literals: [Value], at path: PropertyPath, in item: ClassSchema) -> Cover? {
        guard let column = item.columnIndex(path.description) else {
            // If the column doesn't exist, evaluation reads nil.
            return literals.contains(.null) ? nil : Cover()
        }
        guard literals.count <= maximumAccessCount else { return nil }
        var cover = Cover()
        for literal in literals {
            // NaN equals nothing, not even itself.
            guard literal == literal else { continue }
            cover.accesses.append(.value(literal, column: column))
            cover.breadth = max(cover.breadth, literal.isCommon ? .commonValue : .value)
        }
        return cover
    }

    private static func cover(of interval: Interval, at path: PropertyPath, in item: ClassSchema) -> Cover? {
        guard let column = item.columnIndex(path.description) else { return Cover() }
        return interval == .all ? nil : Cover(interval, column: column)
    }

    /// The union of the parts' covers.
    private static func disjunction(_ parts: [Predicate], _ isNegated: Bool, in item: ClassSchema) -> Cover? {
        var union = Cover()
        for part in parts {
            guard let cover = cover(of: part, isNegated: isNegated, in: item),
                union.accesses.count + cover.accesses.count <= maximumAccessCount
            else { return nil }
            union.accesses += cover.accesses
            union.breadth = max(union.breadth, cover.breadth)
        }
        return union
    }

    /// The most selective cover of any part. All bounds on one column count as one part.
    private static func conjunction(_ predicate: Predicate, _ isNegated: Bool, in item: ClassSchema) -> Cover? {
        var best: Cover?
        func consider(_ cover: Cover) {
            guard let known = best else { return best = cover }
            if (cover.breadth, cover.accesses.count) < (known.breadth, known.accesses.count) { best = cover }
        }
        var intervals: [Int: Interval] = [:]
        func visit(_ part: Predicate, _ isNegated: Bool) {
            switch (part, isNegated) {
            case (.not(let inner), _): visit(inner, !isNegated)
            case (.and(let parts), false), (.or(let parts), true): for part in parts { visit(part, isNegated) }
            default:
                if !isNegated, let (path, interval) = part.interval, let column = item.columnIndex(path.description) {
                    intervals[column, default: .all].formIntersection(interval)
                } else if let cover = cover(of: part, isNegated: isNegated, in: item) {
                    consider(cover)
                }
            }
        }
        visit(predicate, isNegated)
        for (column, interval) in intervals.sorted(by: { $0.key < $1.key }) where interval != .all {
            consider(Cover(interval, column: column))
        }
        return best
    }
}

extension Predicate {
    /// The interval for an order comparison or a test of a string's beginning; nil for other predicates.
    fileprivate var interval: (PropertyPath, Interval)? {
        switch self {
        case .compare(let path, let comparison, let literal): Interval(comparison, literal).map { (path, $0) }
        case .text(let path, .beginsWith, let text, ignoringCase: false):
            (path, Interval(textsBeginningWith: text))
        default: nil
        }
    }
}

extension Value {
    fileprivate var isCommon: Bool {
        switch self {
        case .null, .bool: true
        default: false
        }
    }
}
