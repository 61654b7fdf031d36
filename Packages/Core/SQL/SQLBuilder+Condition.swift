internal import TomboloModel

extension SQLBuilder {
    /// Pushes NOT down to single tests. That is safe in two-valued logic and saves parentheses, which matters because
    /// SQLite's parser stack is small.
    mutating func render(_ predicate: Predicate, negated: Bool) throws(ValueError) -> String {
        switch predicate {
        case .constant(let value): return value != negated ? "TRUE" : "FALSE"
        case .not(let inner): return try render(inner, negated: !negated)
        case .and(let parts): return try join(parts, conjunction: !negated, negated: negated)
        case .or(let parts): return try join(parts, conjunction: negated, negated: negated)
        case .compare(let path, let comparison, let literal):
            return negate(try compare(operand(path), comparison, literal), negated)
        case .isIn(let path, let literals): return negate(try isIn(operand(path), literals), negated)
        case .text(let path, let test, let text, let ignoringCase):
            return negate(try self.text(operand(path), test, text, ignoringCase: ignoringCase), negated)
        }
    }

    func negate(_ sql: String, _ negated: Bool) -> String { negated ? "(NOT \(sql))" : sql }

    /// Puts composite parts first and joins the others as a balanced tree, because SQLite refuses expressions deeper
    /// than 1,000 levels and counts each AND in a chain as one level.
    private mutating func join(
        _ parts: [Predicate], conjunction: Bool, negated: Bool
    ) throws(ValueError) -> String {
        var rendered: [String] = []
        for part in parts.filter(\.isComposite) + parts.filter({ !$0.isComposite }) {
            rendered.append(try render(part, negated: negated))
        }
        return Self.joined(rendered, conjunction: conjunction)
    }

    static func joined(_ parts: [String], conjunction: Bool) -> String {
        guard !parts.isEmpty else { return conjunction ? "TRUE" : "FALSE" }
        return balanced(parts[...], conjunction ? " AND " : " OR ")
    }

    private static func balanced(_ parts: ArraySlice<String>, _ separator: String) -> String {
        if parts.count == 1, let only = parts.first { return only }
        if parts.count <= 16 { return "(\(parts.joined(separator: separator)))" }
        let middle = parts.startIndex + parts.count / 2
        return "(\(balanced(parts[..<middle], separator))\(separator)\(balanced(parts[middle...], separator)))"
    }

    mutating func compare(
        _ operand: Operand, _ comparison: Predicate.Comparison, _ literal: Value
    ) -> String {
        if literal.isNull {
            switch comparison {
            case .equal: return "(\(operand.sql) IS NULL)"
            case .notEqual: return "(\(operand.sql) IS NOT NULL)"
            case .less, .lessOrEqual, .greater, .greaterOrEqual: return "FALSE"
            }
        }
        if operand.isDecimal { return compareDecimal(operand, comparison, literal) }
        let test = "\(operand.sql) \(Self.symbol(comparison)) \(bind(literal, operand.type))"
        return twoValued(test, operand, onNull: comparison == .notEqual)
    }

    /// Compares decimals, which SQLite stores as text. PostgreSQL orders them by number but puts NaN above all other
    /// numbers; here it's below them.
    private mutating func compareDecimal(
        _ operand: Operand, _ comparison: Predicate.Comparison, _ literal: Value
    ) -> String {
        let onNull = comparison == .notEqual
        let symbol = Self.symbol(comparison)
        guard dialect == .postgresql else {
            let test = "\(operand.comparable) \(symbol) decimal_order(\(bind(literal, operand.type)))"
            return twoValued(test, operand, onNull: onNull)
        }
        let isNaN = literal == .decimal(.nan)
        let test: String
        switch comparison {
        // A comparison with NaN needs no literal.
        case .less where isNaN: return "FALSE"
        case .lessOrEqual where isNaN: test = "\(operand.sql) = 'NaN'"
        case .greater where isNaN: test = "\(operand.sql) <> 'NaN'"
        case .greaterOrEqual where isNaN: test = "\(operand.sql) = \(operand.sql)"
        case .equal, .notEqual: test = "\(operand.sql) \(symbol) \(bind(literal, operand.type))"
        case .less, .lessOrEqual:
            test = "(\(operand.sql) \(symbol) \(bind(literal, operand.type)) OR \(operand.sql) = 'NaN')"
        case .greater, .greaterOrEqual:
            test = "(\(operand.sql) \(symbol) \(bind(literal, operand.type)) AND \(operand.sql) <> 'NaN')"
        }
        return twoValued(test, operand, onNull: onNull)
    }

    mutating func isIn(_ operand: Operand, _ literals: [Value]) -> String {
        var seen: Set<Value> = []
        let present = literals.filter { !$0.isNull && seen.insert($0).inserted }
        let hasNull = literals.contains(where: \.isNull)
        guard !present.isEmpty else { return hasNull ? "(\(operand.sql) IS NULL)" : "FALSE" }
        if dialect == .postgresql {
            return twoValued("\(operand.sql) = ANY (\(bind(list: present, operand.type)))", operand, onNull: hasNull)
        }
        let subject = operand.comparable
        if let listTable, parameters.count + present.count > Self.maximumParameterCount {
            lists.append(present)
            let values = "SELECT \(operand.comparable("value")) FROM \(listTable) WHERE list = \(lists.count - 1)"
            return twoValued("\(subject) IN (\(values))", operand, onNull: hasNull)
        }
        let list = present.map { operand.comparable(bind($0, operand.type)) }.joined(separator: ", ")
        return twoValued("\(subject) IN (\(list))", operand, onNull: hasNull)
    }

    /// Compares bytes. LIKE isn't used, because its wildcards and case folding differ between the databases.
    mutating func text(
        _ operand: Operand, _ test: Predicate.TextTest, _ text: String, ignoringCase: Bool
    ) -> String {
        // Every string contains the empty string, but the functions below disagree about that.
        if text.isEmpty { return operand.isOptional ? "(\(operand.sql) IS NOT NULL)" : "TRUE" }
        let subject: String
        switch (ignoringCase, dialect) {
        case (false, _): subject = operand.sql
        case (true, .sqlite): subject = "lower(\(operand.sql))"
        case (true, .postgresql): subject = "lower(\(operand.sql) COLLATE \"C\")"
        }
        let literal = Value.string(ignoringCase ? text.lowercasedASCII : text)
        // SQLite and PostgreSQL count Unicode scalars.
        let length = Value.int(Int64(text.unicodeScalars.count))
        let condition: String
        switch (test, dialect) {
        case (.contains, .sqlite): condition = "instr(\(subject), \(bind(literal, .string))) > 0"
        case (.contains, .postgresql): condition = "strpos(\(subject), \(bind(literal, .string))) > 0"
        case (.beginsWith, .sqlite):
            let count = bind(length, .int(bits: 64))
            condition = "substr(\(subject), 1, \(count)) = \(bind(literal, .string))"
        case (.beginsWith, .postgresql): condition = "starts_with(\(subject), \(bind(literal, .string)))"
        case (.endsWith, .sqlite):
            let count = bind(length, .int(bits: 64))
            condition = "substr(\(subject), -\(count)) = \(bind(literal, .string))"
        case (.endsWith, .postgresql):
            let placeholder = bind(literal, .string)
            condition = "right(\(subject), length(\(placeholder)::text)) = \(placeholder)"
        }
        return twoValued(condition, operand, onNull: false)
    }

    /// Turns a test that is NULL for NULL into one that is TRUE or FALSE.
    func twoValued(_ test: String, _ operand: Operand, onNull: Bool) -> String {
        guard operand.isOptional else { return "(\(test))" }
        // A path's subquery should run only once, so it mustn't be repeated.
        guard operand.isColumn else { return "coalesce(\(test), \(onNull ? "TRUE" : "FALSE"))" }
        return onNull ? "(\(test) OR \(operand.sql) IS NULL)" : "(\(test) AND \(operand.sql) IS NOT NULL)"
    }

    static func symbol(_ comparison: Predicate.Comparison) -> String {
        switch comparison {
        case .equal: "="
        case .notEqual: "<>"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}

extension Predicate {
    fileprivate var isComposite: Bool {
        switch self {
        case .and, .or: true
        case .not(let inner): inner.isComposite
        case .constant, .compare, .isIn, .text: false
        }
    }
}

extension String {
    /// Folds only A–Z, as both databases do.
    fileprivate var lowercasedASCII: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    ("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value) + 32) : scalar
                }))
    }
}
