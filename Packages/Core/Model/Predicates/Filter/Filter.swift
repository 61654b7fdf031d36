/// A condition on the objects of a class, in the whole query language: the result of parsing `filter("…")` or building
/// `where {}`. It may follow links and look into lists. SQLite evaluates it.
///
/// A condition that only compares one row's properties with values can also be a ``Predicate``, which subscriptions and
/// rules need; see ``predicate(of:)``.
///
/// Logic is two-valued, as in Realm. Nil equals only nil and is neither less nor greater than anything, so `<=` and
/// `>=` hold between nils. Every string contains, begins with and ends with nil, and only nil is LIKE nil.
public indirect enum Filter: Hashable, Sendable {
    case constant(Bool)
    /// Compares two operands, at least one of which isn't a literal. The options say how strings are folded first.
    case compare(FilterOperand, Predicate.Comparison, FilterOperand, StringOptions)
    /// The first operand is between the others, inclusive.
    case between(FilterOperand, FilterOperand, FilterOperand)
    /// Membership in a list of literals.
    case isIn(FilterOperand, [Value], StringOptions)
    /// Tests a string or data.
    case text(FilterOperand, TextTest, FilterOperand, StringOptions)
    /// A condition on the elements at the end of a path through at least one list. Its operands belong to the elements.
    /// The path ends with a list or LinkingObjects.
    case quantified(Quantifier, PropertyPath, Filter)
    case and([Filter])
    case or([Filter])
    case not(Filter)

    public enum TextTest: String, Hashable, Sendable, CaseIterable {
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        /// `*` matches any string, `?` one character.
        case like = "LIKE"
    }

    public enum Quantifier: String, Hashable, Sendable, CaseIterable {
        /// At least one element satisfies the condition. False if there are no elements.
        case any = "ANY"
        /// All elements satisfy the condition. True if there are no elements.
        case all = "ALL"
        /// No element satisfies the condition. True if there are no elements.
        case none = "NONE"
    }
}

/// One side of a comparison.
public indirect enum FilterOperand: Hashable, Sendable {
    case literal(Value)
    /// A property, possibly through links. A link itself stands for its target's key.
    case property(PropertyPath)
    /// `SELF`: the object, represented by its key, or a quantifier's list element.
    case element
    /// The number of elements at a path that satisfy a condition: `dogs.@count`, `SUBQUERY(dogs, $d, …).@count`.
    case count(PropertyPath, Filter)
    /// An aggregate over one value of each element at a path: `dogs.@max.age`. Ignores nil. Without any values, the sum
    /// is 0 and the other aggregates are nil.
    case aggregate(Aggregate, PropertyPath, FilterOperand)
    /// The length of a string or of data, in bytes.
    case length(PropertyPath)
    /// An operand that belongs to the object one quantifier further out.
    case outer(FilterOperand)

    public enum Aggregate: String, Hashable, Sendable, CaseIterable {
        case min, max, sum
        case average = "avg"
    }
}

/// How strings are folded before they're compared.
public struct StringOptions: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Ignores case: `[c]`. In subscriptions, which the server evaluates, it ignores only the case of A–Z.
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// Ignores diacritics: `[d]`. Not available in subscriptions.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)
}

extension Filter {
    /// A conjunction, flattened and with constants folded. An empty one is true.
    public static func all(_ parts: [Filter]) -> Filter {
        var kept: [Filter] = []
        for part in parts {
            switch part {
            case .constant(true): continue
            case .constant(false): return .constant(false)
            case .and(let inner): kept.append(contentsOf: inner)
            default: kept.append(part)
            }
        }
        return kept.isEmpty ? .constant(true) : kept.count == 1 ? kept[0] : .and(kept)
    }

    /// A disjunction, flattened and with constants folded. An empty one is false.
    public static func any(_ parts: [Filter]) -> Filter {
        var kept: [Filter] = []
        for part in parts {
            switch part {
            case .constant(false): continue
            case .constant(true): return .constant(true)
            case .or(let inner): kept.append(contentsOf: inner)
            default: kept.append(part)
            }
        }
        return kept.isEmpty ? .constant(false) : kept.count == 1 ? kept[0] : .or(kept)
    }
}

extension FilterOperand {
    /// The operand as it's written inside a quantifier.
    func seenFromElement() -> FilterOperand {
        if case .literal = self { self } else { .outer(self) }
    }
}

extension Predicate.Comparison {
    /// The same comparison with its sides swapped.
    package var mirrored: Predicate.Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}
