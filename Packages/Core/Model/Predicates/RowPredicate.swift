/// A ``Predicate`` made ready for many rows of one class: its paths are columns, its searches are prepared, and however many
/// values it looks for in a column, one look-up finds whether the row's is among them. Agrees with
/// ``Predicate/matches(_:of:)``.
package indirect enum RowPredicate: Sendable {
    case constant(Bool)
    case compare(column: Int, Predicate.Comparison, Value)
    case isIn(column: Int, Set<Value>)
    case text(column: Int, Predicate.TextTest, String, ignoringCase: Bool)
    case search(column: Int, TextSearch)
    case and([RowPredicate])
    case or([RowPredicate])
    case not(RowPredicate)

    /// A text that others are searched for.
    package struct TextSearch: Sendable {
        private let search: LiteralSearch

        fileprivate init(_ text: String, ignoringCase: Bool) {
            search = LiteralSearch(text.utf8, ignoringCase: ignoringCase)
        }

        fileprivate func isIn(_ subject: String) -> Bool {
            var subject = subject
            return subject.withUTF8 { search.find(in: $0) != nil }
        }
    }

    /// - Parameter predicate: with paths of one name.
    package init(_ predicate: Predicate, of item: ClassSchema) {
        switch predicate {
        case .constant(let result): self = .constant(result)
        case .and(let parts): self = .and(parts.map { RowPredicate($0, of: item) })
        case .or(let parts): self = Self.disjunction(parts, of: item)
        case .not(let inner): self = .not(RowPredicate(inner, of: item))
        case .compare(let path, _, _), .isIn(let path, _), .text(let path, _, _, _):
            guard let column = item.columnIndex(path.description) else {
                self = .constant(predicate.evaluate { _ in .null })
                return
            }
            self = Self.test(of: column, by: predicate)
        }
    }

    private static func test(of column: Int, by predicate: Predicate) -> RowPredicate {
        switch predicate {
        case .compare(_, let comparison, let literal): .compare(column: column, comparison, literal)
        case .isIn(_, let literals): .isIn(column: column, Set(literals))
        case .text(_, .contains, let text, let ignoringCase):
            .search(column: column, TextSearch(text, ignoringCase: ignoringCase))
        case .text(_, let test, let text, let ignoringCase):
            .text(column: column, test, text, ignoringCase: ignoringCase)
        case .constant, .and, .or, .not: preconditionFailure("Expected a condition on one column.")
        }
    }

    /// Joins what looks for values in the same column.
    private static func disjunction(_ parts: [Predicate], of item: ClassSchema) -> RowPredicate {
        var values: [Int: Set<Value>] = [:]
        var others: [RowPredicate] = []
        for part in parts {
            switch RowPredicate(part, of: item) {
            case .compare(let column, .equal, let value): values[column, default: []].insert(value)
            case .isIn(let column, let literals): values[column, default: []].formUnion(literals)
            case let other: others.append(other)
            }
        }
        return .or(values.map { .isIn(column: $0.key, $0.value) } + others)
    }

    package func matches(_ row: Row) -> Bool {
        switch self {
        case .constant(let result): return result
        case .compare(let column, let comparison, let literal): return comparison.evaluate(row[column], literal)
        case .isIn(let column, let literals): return literals.contains(row[column])
        case .text(let column, let test, let text, let ignoringCase):
            guard case .string(let subject) = row[column] else { return false }
            return test.evaluate(subject, text, ignoringCase: ignoringCase)
        case .search(let column, let search):
            guard case .string(let subject) = row[column] else { return false }
            return search.isIn(subject)
        case .and(let parts): return parts.allSatisfy { $0.matches(row) }
        case .or(let parts): return parts.contains { $0.matches(row) }
        case .not(let inner): return !inner.matches(row)
        }
    }
}
