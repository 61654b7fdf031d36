/// Compares strings by bytes, as evaluation does. `contains "é"` with one code point and with two are different
/// conditions: a device that replaces one with the other gets different rows.
extension Predicate: Hashable {
    public static func == (left: Predicate, right: Predicate) -> Bool {
        switch (left, right) {
        case (.constant(let a), .constant(let b)): a == b
        case (.compare(let pathA, let comparisonA, let a), .compare(let pathB, let comparisonB, let b)):
            pathA == pathB && comparisonA == comparisonB && a == b
        case (.isIn(let pathA, let a), .isIn(let pathB, let b)): pathA == pathB && a == b
        case (.text(let pathA, let testA, let a, let foldsA), .text(let pathB, let testB, let b, let foldsB)):
            pathA == pathB && testA == testB && foldsA == foldsB && a.hasBytes(of: b)
        case (.and(let a), .and(let b)), (.or(let a), .or(let b)): a == b
        case (.not(let a), .not(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .constant(let result): hasher.combine(result)
        case .compare(let path, let comparison, let literal):
            hasher.combine(path)
            hasher.combine(comparison)
            hasher.combine(literal)
        case .isIn(let path, let literals):
            hasher.combine(path)
            hasher.combine(literals)
        case .text(let path, let test, let text, let ignoringCase):
            hasher.combine(path)
            hasher.combine(test)
            hasher.combine(Value.string(text))
            hasher.combine(ignoringCase)
        case .and(let parts):
            hasher.combine(1)
            hasher.combine(parts)
        case .or(let parts):
            hasher.combine(2)
            hasher.combine(parts)
        case .not(let inner):
            hasher.combine(3)
            hasher.combine(inner)
        }
    }
}
