extension Predicate {
    /// The maximum nesting of a predicate received from a device.
    public static let maximumDepth = 64
    /// The maximum number of parts in a predicate received from a device; see ``partCount``.
    public static let maximumPartCount = 4_096
    /// The maximum length, in UTF-8 bytes, of the string in `contains`, `beginsWith` and `endsWith`. A server searches
    /// every changed row for it, and its database searches every row. In the worst case, PostgreSQL's search takes time
    /// proportional to the product of both lengths.
    public static let maximumNeedleByteCount = 256

    /// Checks names, types and size against a class, following links through `schema`.
    /// - Parameters:
    ///   - maximumPathLength: 1 for subscriptions and rules, which depend on only one row.
    ///   - isBounded: whether ``maximumDepth``, ``maximumPartCount`` and ``maximumNeedleByteCount`` apply. They don't
    ///     apply to local queries or to a combination of checked predicates.
    public func check(
        for className: String, in schema: Schema, maximumPathLength: Int = .max, isBounded: Bool = true
    ) throws(ValueError) {
        if isBounded {
            var parts = 0
            try checkSize(className, depth: 0, parts: &parts)
        }
        try check(for: className, in: schema, maximumPathLength)
    }

    /// The number of comparisons, literals in lists, and operators that connect them.
    public var partCount: Int {
        switch self {
        case .constant, .compare, .text: 1
        case .isIn(_, let values): 1 + values.count
        case .and(let inner), .or(let inner): inner.reduce(1) { $0 + $1.partCount }
        case .not(let inner): 1 + inner.partCount
        }
    }

    /// The number of tests that search a property's whole string: those with `contains`.
    public var searchCount: Int {
        switch self {
        case .text(_, .contains, _, _): 1
        case .constant, .compare, .isIn, .text: 0
        case .and(let inner), .or(let inner): inner.reduce(0) { $0 + $1.searchCount }
        case .not(let inner): inner.searchCount
        }
    }

    private func checkSize(_ className: String, depth: Int, parts: inout Int) throws(ValueError) {
        parts += 1
        if case .isIn(_, let values) = self { parts += values.count }
        guard depth <= Self.maximumDepth, parts <= Self.maximumPartCount else {
            throw ValueError(
                "The query on \(className) is too large: at most \(Self.maximumPartCount) parts, nested "
                    + "\(Self.maximumDepth) levels deep.")
        }
        switch self {
        case .constant, .compare, .isIn: break
        case .text(let path, let test, let text, _):
            guard text.utf8.count <= Self.maximumNeedleByteCount else {
                throw ValueError(
                    "The query on \(className) tests whether \(path.shown) \(test.verb) a string of \(text.utf8.count) "
                        + "bytes; the limit is \(Self.maximumNeedleByteCount). Use a shorter string, or compare the "
                        + "whole property with ==.")
            }
        case .and(let inner), .or(let inner):
            for part in inner { try part.checkSize(className, depth: depth + 1, parts: &parts) }
        case .not(let inner): try inner.checkSize(className, depth: depth + 1, parts: &parts)
        }
    }

    private func check(
        for className: String, in schema: Schema, _ maximumPathLength: Int
    ) throws(ValueError) {
        switch self {
        case .constant: break
        case .and(let inner), .or(let inner):
            for part in inner { try part.check(for: className, in: schema, maximumPathLength) }
        case .not(let inner): try inner.check(for: className, in: schema, maximumPathLength)
        case .compare(let path, let comparison, let value):
            let column = try Self.column(at: path, of: className, in: schema, maximumPathLength)
            if value.isNull {
                guard comparison == .equal || comparison == .notEqual else {
                    throw ValueError("\(className).\(path) can only be compared with nil by == and !=.")
                }
            } else {
                try Self.require(value, fits: column, path, className, schema)
            }
        case .isIn(let path, let values):
            let column = try Self.column(at: path, of: className, in: schema, maximumPathLength)
            for value in values where !value.isNull { try Self.require(value, fits: column, path, className, schema) }
        case .text(let path, let test, let text, _):
            let column = try Self.column(at: path, of: className, in: schema, maximumPathLength)
            guard schema.storedType(of: column) == .string else {
                throw ValueError(
                    "\(className).\(path) is of type \(column.type.name); \(test.rawValue) needs a string.")
            }
            try Self.require(.string(text), fits: column, path, className, schema)
        }
    }

    private static func require(
        _ value: Value, fits column: Column, _ path: PropertyPath, _ className: String, _ schema: Schema
    ) throws(ValueError) {
        // The literal may be outside a narrow integer's range: `x < 1000` on an Int8 is simply true.
        var type = schema.storedType(of: column)
        if case .int = type { type = .int(bits: 64) }
        do throws(ValueError) {
            try Column(name: path.description, type: type).validate(value)
        } catch {
            throw ValueError("In the query on \(className): \(error.message)")
        }
    }

    private static func column(
        at path: PropertyPath, of className: String, in schema: Schema, _ maximumPathLength: Int
    ) throws(ValueError) -> Column {
        guard let item = schema[className] else { throw ValueError("There is no class \(className) in the schema.") }
        let resolved = try schema.resolve(path, from: item)
        guard resolved.steps.count < maximumPathLength else {
            throw ValueError(
                "\(className).\(path) follows a link, but a subscription can't look beyond the object itself. "
                    + "Subscribe to the linked class, or copy the property.")
        }
        guard !resolved.isToMany, let column = resolved.column else {
            throw ValueError(
                "\(className).\(path) leads to many values, but a predicate can only compare properties of one object.")
        }
        return column
    }
}

extension Predicate.TextTest {
    fileprivate var verb: String {
        switch self {
        case .contains: "contains"
        case .beginsWith: "begins with"
        case .endsWith: "ends with"
        }
    }
}

extension PropertyPath {
    /// The path for messages. It may not exist and may have any length.
    fileprivate var shown: String { "'\(description.shortened(toByteCount: String.nearestLengthLimit))'" }
}

extension String {
    /// Longer names, in bytes, aren't compared: they can't be typos of ours, they may come from anybody, and comparing
    /// them takes time proportional to their length.
    package static let nearestLengthLimit = 100

    /// The candidate with the smallest edit distance, or nil if none is close enough for a typo.
    package func nearest(in candidates: [String]) -> String? {
        guard utf8.count <= Self.nearestLengthLimit else { return nil }
        let best = candidates.map { ($0, editDistance(to: $0)) }.min { $0.1 < $1.1 }
        guard let best, best.1 <= Swift.max(2, count / 3) else { return nil }
        return best.0
    }

    private func editDistance(to other: String) -> Int {
        let a = Array(lowercased())
        let b = Array(other.lowercased())
        var previous = Array(0...b.count)
        for (i, character) in a.enumerated() {
            var current = [i + 1]
            for (j, otherCharacter) in b.enumerated() {
                current.append(
                    Swift.min(
                        previous[j + 1] + 1, current[j] + 1, previous[j] + (character == otherCharacter ? 0 : 1)))
            }
            previous = current
        }
        return previous[b.count]
    }
}
