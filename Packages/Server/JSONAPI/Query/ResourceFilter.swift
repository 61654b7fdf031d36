import TomboloHTTP
package import TomboloModel
import TomboloLocalization

/// One filter of a request: `filter[price][ge]=10`.
package struct ResourceFilter {
    /// The operators of filters.
    package enum Operator: String, CaseIterable {
        case eq, ne, lt, le, gt, ge
        case `in`
        case contains, startsWith
        case isNull
    }

    package let predicate: Predicate

    package init(_ parameter: RequestParameters.Parameter, of resource: ResourceType, _ view: CallerView) throws {
        let field = try FieldPath(parameter.keys[0], of: resource, view, parameter)
        let known = Self.operators(field)
        let name = parameter.keys.count > 1 ? parameter.keys[1] : Operator.eq.rawValue
        guard let asked = Operator(rawValue: name), known.contains(asked) else {
            throw parameter.failure(
                localized("'\(name.shortened(toByteCount: 60))' isn't an operator for '\(parameter.keys[0])'."),
                localized("Expected one of: \(known.map(\.rawValue).joined(separator: ", "))."))
        }
        let path = field.shown
        let comparisons: [Operator: Predicate.Comparison] = [
            .eq: .equal, .ne: .notEqual, .lt: .less, .le: .lessOrEqual, .gt: .greater, .ge: .greaterOrEqual,
        ]
        switch asked {
        case .eq, .ne, .lt, .le, .gt, .ge:
            let value = try Self.value(parameter.value, field, parameter)
            let found = Predicate.compare(path, comparisons[asked] ?? .equal, value)
            predicate = asked == .eq ? Self.narrowed(found, field) { .compare($0, .equal, value) } : found
        case .in:
            let texts = try parameter.list(
                limit: ResourceQuery.maximumFilterValueCount, localized("values", context: "it has …"))
            let values = try texts.map { try Self.value($0, field, parameter) }
            predicate = Self.narrowed(.isIn(path, values), field) { .isIn($0, values) }
        case .contains, .startsWith:
            guard parameter.value.utf8.count <= Predicate.maximumNeedleByteCount else {
                throw parameter.failure(
                    localized("the text has more than \(Predicate.maximumNeedleByteCount) bytes."),
                    localized("Send a shorter text."))
            }
            predicate = .text(
                path, asked == .contains ? .contains : .beginsWith, parameter.value, ignoringCase: false)
        case .isNull:
            guard case .bool(let isNull)? = ValueText.value(parameter.value, .bool) else {
                throw parameter.failure(expected: localized("true or false"))
            }
            predicate = .compare(path, isNull ? .equal : .notEqual, .null)
        }
    }

    /// The operators that filters may use on a field.
    package static func operators(_ field: FieldPath) -> [Operator] {
        if field.isEmbedded { return [.isNull] }
        switch field.type {
        case .bool, .uuid, .objectId: return [.eq, .ne, .in, .isNull]
        case .int, .float, .double, .decimal128, .date: return [.eq, .ne, .lt, .le, .gt, .ge, .in, .isNull]
        case .string: return Operator.allCases
        case .data, .link, .embedded, .array, .list, .linkingObjects: return [.isNull]
        }
    }

    /// A condition that follows a link, together with the same condition on the link's own column, for which there is
    /// an index.
    private static func narrowed(
        _ condition: Predicate, _ field: FieldPath, _ own: (PropertyPath) -> Predicate
    ) -> Predicate {
        let column = PropertyPath(field.column.name)
        return field.shown == column ? condition : .all([own(column), condition])
    }

    private static func value(
        _ text: String, _ field: FieldPath, _ parameter: RequestParameters.Parameter
    ) throws -> Value {
        // A number outside a narrow property's range simply equals none of its values.
        var type = field.type
        if case .int = type { type = .int(bits: 64) }
        guard let value = ValueText.value(text, type) else {
            throw parameter.failure(expected: ValueText.expected(type).localized, found: text)
        }
        return value
    }
}
