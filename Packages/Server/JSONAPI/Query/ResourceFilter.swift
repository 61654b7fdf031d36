import TomboloHTTP
package import TomboloModel

/// One filter of a request: `filter[price][ge]=10`.
package struct ResourceFilter {
    /// What a filter may ask.
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
                "'\(name.shortened(toByteCount: 60))' isn't an operator for '\(parameter.keys[0])'.",
                "Possible are: \(known.map(\.rawValue).joined(separator: ", ")).")
        }
        let path = PropertyPath(field.column.name)
        let comparisons: [Operator: Predicate.Comparison] = [
            .eq: .equal, .ne: .notEqual, .lt: .less, .le: .lessOrEqual, .gt: .greater, .ge: .greaterOrEqual,
        ]
        switch asked {
        case .eq, .ne, .lt, .le, .gt, .ge:
            predicate = .compare(
                path, comparisons[asked] ?? .equal, try Self.value(parameter.value, field, parameter))
        case .in:
            let texts = try parameter.list(limit: ResourceQuery.maximumFilterValueCount, "values")
            predicate = .isIn(path, try texts.map { try Self.value($0, field, parameter) })
        case .contains, .startsWith:
            guard parameter.value.utf8.count <= Predicate.maximumNeedleByteCount else {
                throw parameter.failure(
                    "the text has more than \(Predicate.maximumNeedleByteCount) bytes.", "Send a shorter text.")
            }
            predicate = .text(
                path, asked == .contains ? .contains : .beginsWith, parameter.value, ignoringCase: false)
        case .isNull:
            guard case .bool(let isNull)? = ValueText.value(parameter.value, .bool) else {
                throw parameter.failure(expected: "true or false")
            }
            predicate = .compare(path, isNull ? .equal : .notEqual, .null)
        }
    }

    /// What filters may ask about a field.
    package static func operators(_ field: FieldPath) -> [Operator] {
        if field.isEmbedded { return [.isNull] }
        switch field.type {
        case .bool, .uuid, .objectId: return [.eq, .ne, .in, .isNull]
        case .int, .float, .double, .decimal128, .date: return [.eq, .ne, .lt, .le, .gt, .ge, .in, .isNull]
        case .string: return Operator.allCases
        case .data, .link, .embedded, .array, .list, .linkingObjects: return [.isNull]
        }
    }

    private static func value(
        _ text: String, _ field: FieldPath, _ parameter: RequestParameters.Parameter
    ) throws -> Value {
        // A number outside a narrow property's range is simply equal to none.
        var type = field.type
        if case .int = type { type = .int(bits: 64) }
        guard let value = ValueText.value(text, type) else {
            throw parameter.failure(expected: ValueText.expected(type), found: text)
        }
        return value
    }
}
