/// A condition on one row. It's built by `where {}`, sent in subscriptions and used in rules. It can be evaluated in
/// memory or rendered as SQL for SQLite and PostgreSQL, and all three evaluations agree on every row.
///
/// Logic is two-valued, as in Realm: nil equals only nil, and every order comparison with nil is false.
public indirect enum Predicate: Sendable {
    case constant(Bool)
    /// Compares a property with a literal of its type, or with nil (only `==` and `!=`).
    case compare(PropertyPath, Comparison, Value)
    /// Membership in a list of literals.
    case isIn(PropertyPath, [Value])
    /// A test of a string; false for nil.
    case text(PropertyPath, TextTest, String, ignoringCase: Bool)
    case and([Predicate])
    case or([Predicate])
    case not(Predicate)

    public enum Comparison: String, Hashable, Sendable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }

    public enum TextTest: String, Hashable, Sendable, CaseIterable {
        case contains
        case beginsWith
        case endsWith
    }
}

/// Property names that lead from the row's class through links to a scalar: `["price"]`, `["room", "name"]`. A link
/// itself stands for its target's primary key. Subscriptions and rules allow only paths with one name.
public struct PropertyPath: Hashable, Sendable, CustomStringConvertible {
    /// The property names, starting at the row's class.
    public let names: [String]

    public init(_ names: [String]) { self.names = names }
    public init(_ name: String) { self.names = [name] }

    public var description: String { names.joined(separator: ".") }
}

extension Predicate: CustomStringConvertible {
    /// A readable form in the notation of Realm's string predicates, for messages only. It isn't parsed again.
    public var description: String {
        switch self {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .compare(let path, let comparison, let value): "\(path) \(comparison.rawValue) \(value)"
        case .isIn(let path, let values): "\(path) IN {\(values.map(\.description).joined(separator: ", "))}"
        case .text(let path, let test, let text, let ignoringCase):
            "\(path) \(test.rawValue.uppercased())\(ignoringCase ? "[c]" : "") \"\(text)\""
        case .and(let parts): parts.isEmpty ? "TRUEPREDICATE" : parts.map { "(\($0))" }.joined(separator: " && ")
        case .or(let parts): parts.isEmpty ? "FALSEPREDICATE" : parts.map { "(\($0))" }.joined(separator: " || ")
        case .not(let inner): "!(\(inner))"
        }
    }
}

extension Predicate {
    /// A conjunction, flattened and with constants folded. An empty one is true.
    public static func all(_ parts: [Predicate]) -> Predicate {
        var kept: [Predicate] = []
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
    public static func any(_ parts: [Predicate]) -> Predicate {
        var kept: [Predicate] = []
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

    /// Every property path in the predicate, in order of appearance.
    public var paths: [PropertyPath] {
        switch self {
        case .constant: []
        case .compare(let path, _, _), .isIn(let path, _), .text(let path, _, _, _): [path]
        case .and(let parts), .or(let parts): parts.flatMap(\.paths)
        case .not(let inner): inner.paths
        }
    }
}
