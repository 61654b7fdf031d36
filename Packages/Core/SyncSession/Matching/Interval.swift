internal import TomboloModel

/// A position between the values of a column: just before or after a value, or at either end. Values of different
/// kinds, which no column mixes, are ordered by kind.
enum Cut: Hashable, Sendable {
    case start
    case before(Value)
    case after(Value)
    case end

    func precedes(_ value: Value) -> Bool {
        switch self {
        case .start: true
        case .before(let bound): value.totalOrder(bound) >= 0
        case .after(let bound): value.totalOrder(bound) > 0
        case .end: false
        }
    }

    /// Returns -1, 0 or 1.
    func order(_ other: Cut) -> Int {
        switch (self, other) {
        case (.start, .start), (.end, .end): 0
        case (.start, _), (_, .end): -1
        case (_, .start), (.end, _): 1
        case (.before(let a), .before(let b)), (.after(let a), .after(let b)): a.totalOrder(b)
        case (.before(let a), .after(let b)): a.totalOrder(b) <= 0 ? -1 : 1
        case (.after(let a), .before(let b)): a.totalOrder(b) >= 0 ? 1 : -1
        }
    }
}

/// The values between two cuts. Never contains nil, because every order comparison with nil is false.
struct Interval: Hashable, Sendable {
    private(set) var lower: Cut
    private(set) var upper: Cut

    static let all = Interval(lower: .start, upper: .end)
    static let empty = Interval(lower: .end, upper: .start)

    var isEmpty: Bool { lower.order(upper) >= 0 }
    var isBounded: Bool { lower != .start && upper != .end }

    func contains(_ value: Value) -> Bool { !value.isNull && lower.precedes(value) && !upper.precedes(value) }

    mutating func formIntersection(_ other: Interval) {
        if lower.order(other.lower) < 0 { lower = other.lower }
        if upper.order(other.upper) > 0 { upper = other.upper }
    }
}

extension Interval {
    /// The values that satisfy an order comparison with a literal. Nil if they don't form an interval.
    init?(_ comparison: Predicate.Comparison, _ literal: Value) {
        let isNaN = if case .double(let number) = literal { number.isNaN } else { false }
        switch comparison {
        case .equal, .notEqual: return nil
        case _ where literal.isNull: self = .empty
        // Order comparisons treat NaN as less than every number and than itself.
        case .less where isNaN, .lessOrEqual where isNaN: self = .empty
        case .greater where isNaN, .greaterOrEqual where isNaN: return nil
        case .less: self.init(lower: .start, upper: .before(literal))
        case .lessOrEqual: self.init(lower: .start, upper: .after(literal))
        case .greater: self.init(lower: .after(literal), upper: .end)
        case .greaterOrEqual: self.init(lower: .before(literal), upper: .end)
        }
    }

    /// The strings that begin with the given one. UTF-8 bytes sort like code points, so the first string after all of
    /// these has a greater last code point.
    init(textsBeginningWith prefix: String) {
        var scalars = Array(prefix.unicodeScalars)
        var upper = Cut.end
        while let last = scalars.popLast() {
            // The only gap between code points is that of the surrogates, D800 to DFFF.
            if let next = Unicode.Scalar(last.value == 0xd7ff ? 0xe000 : last.value + 1) {
                scalars.append(next)
                upper = .before(.string(String(String.UnicodeScalarView(scalars))))
                break
            }
        }
        self.init(lower: prefix.isEmpty ? .start : .before(.string(prefix)), upper: upper)
    }
}

extension Value {
    /// Orders values of the same kind like ``order(_:)``, and values of different kinds by kind: returns -1, 0 or 1.
    /// NaN, which only other software can have stored as a double, is greater than any number.
    func totalOrder(_ other: Value) -> Int {
        switch (self, other) {
        // The most frequent types come first, because they're cheapest to compare.
        case (.int(let a), .int(let b)), (.date(let a), .date(let b)): a == b ? 0 : (a < b ? -1 : 1)
        case (.double(let a), .double(let b)) where a.isNaN || b.isNaN: a.isNaN == b.isNaN ? 0 : (a.isNaN ? 1 : -1)
        default: order(other) ?? (kind == other.kind ? 0 : (kind < other.kind ? -1 : 1))
        }
    }

    private var kind: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int: 2
        case .double: 3
        case .string: 4
        case .data: 5
        case .date: 6
        case .objectId: 7
        case .uuid: 8
        case .decimal: 9
        }
    }
}
