/// A condition in the whole query language, on the objects of a class: what `filter("…")` parses and `where {}` builds.
/// It may follow links and look into lists, and is evaluated by SQLite.
///
/// The part of it that looks at one row only, by comparing its properties with values, is a ``Predicate``, which
/// subscriptions and rules take: see ``predicate(of:)``.
///
/// Logic is two-valued, as in Realm: nil equals only nil, so that `<=` and `>=` hold between nils, and is neither less nor
/// greater than anything. Every text contains, begins and ends with nil, and only nil is like it.
public indirect enum Filter: Hashable, Sendable {
    case constant(Bool)
    /// Two operands, of which one at least is no literal. Options fold text before it is compared.
    case compare(FilterOperand, Predicate.Comparison, FilterOperand, StringOptions)
    /// The first operand lies between the others, ends included.
    case between(FilterOperand, FilterOperand, FilterOperand)
    /// Membership in a list of literals.
    case isIn(FilterOperand, [Value], StringOptions)
    /// A test of text, or of data.
    case text(FilterOperand, TextTest, FilterOperand, StringOptions)
    /// A condition on the elements that a path through at least one list leads to; in the condition, operands are those
    /// of an element. The path ends with a list or with LinkingObjects.
    case quantified(Quantifier, PropertyPath, Filter)
    case and([Filter])
    case or([Filter])
    case not(Filter)

    public enum TextTest: String, Hashable, Sendable, CaseIterable {
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        /// `*` stands for any text, `?` for one character.
        case like = "LIKE"
    }

    public enum Quantifier: String, Hashable, Sendable, CaseIterable {
        /// At least one element satisfies the condition; false without elements.
        case any = "ANY"
        /// No element violates the condition; true without elements.
        case all = "ALL"
        /// No element satisfies the condition; true without elements.
        case none = "NONE"
    }
}

/// One side of a comparison.
public indirect enum FilterOperand: Hashable, Sendable {
    case literal(Value)
    /// A property, or one behind links. A link itself stands for the key of its target.
    case property(PropertyPath)
    /// `SELF`: the object, by its key, or the element of a list that a quantifier is about.
    case element
    /// How many elements a path leads to that satisfy a condition: `dogs.@count`, `SUBQUERY(dogs, $d, …).@count`.
    case count(PropertyPath, Filter)
    /// Over a value of each element that a path leads to, `dogs.@max.age`; nils do not count. Without values, the sum
    /// is 0 and the others are nil.
    case aggregate(Aggregate, PropertyPath, FilterOperand)
    /// The length of a text or of data, in bytes.
    case length(PropertyPath)
    /// The operand as the object sees it that is one quantifier further out.
    case outer(FilterOperand)

    public enum Aggregate: String, Hashable, Sendable, CaseIterable {
        case min, max, sum
        case average = "avg"
    }
}

/// How text is folded before it is compared.
public struct StringOptions: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Letters of either case are equal: `[c]`. On the server, in subscriptions, this holds for A–Z only.
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// Letters with and without accents are equal: `[d]`.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)
}

extension Filter {
    /// Conjunction, flattened and with constants folded.
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

    /// Disjunction, flattened and with constants folded.
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
    /// The operand as it is written inside a quantifier.
    func seenFromElement() -> FilterOperand {
        if case .literal = self { self } else { .outer(self) }
    }
}

extension Predicate.Comparison {
    /// The same comparison with its sides exchanged.
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
