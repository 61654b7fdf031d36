internal import TomboloModel

/// One side of a comparison: a column, a subquery, or a literal, which is bound again each time it's used.
private enum Side {
    case operand(SQLBuilder.Operand)
    case literal(Value)

    var isOptional: Bool {
        switch self {
        case .operand(let operand): operand.isOptional
        case .literal(let value): value.isNull
        }
    }
    var isDecimal: Bool { if case .operand(let operand) = self { operand.isDecimal } else { false } }
}

/// How both sides are converted before they're compared.
private enum Folding {
    case none
    case text(StringOptions)
    case decimal

    init(_ left: Side, _ right: Side, _ options: StringOptions) {
        self = left.isDecimal || right.isDecimal ? .decimal : options.isEmpty ? .none : .text(options)
    }

    func apply(_ sql: String) -> String {
        switch self {
        case .none: sql
        case .text(let options): "text_fold(\(sql), \(options.rawValue))"
        case .decimal: "decimal_order(\(sql))"
        }
    }
}

extension SQLBuilder {
    /// Pushes NOT down to single tests, as for ``Predicate``.
    mutating func render(
        _ filter: Filter, _ scopes: ArraySlice<Scope>, negated: Bool
    ) throws(ValueError) -> String {
        switch filter {
        case .constant(let value): return value != negated ? "TRUE" : "FALSE"
        case .not(let inner): return try render(inner, scopes, negated: !negated)
        case .and(let parts): return try join(parts, scopes, conjunction: !negated, negated: negated)
        case .or(let parts): return try join(parts, scopes, conjunction: negated, negated: negated)
        case .quantified(let quantifier, let path, let inner):
            guard let scope = scopes.last else {
                throw ValueError("A condition refers to an object outside its query.")
            }
            let elements = try elements(at: path, from: scope)
            let test = try render(inner, scopes + [elements.scope], negated: quantifier == .all)
            let isNegated = (quantifier == .any) == negated
            return "\(isNegated ? "NOT " : "")EXISTS (\(elements.select("1", where: test)))"
        case .compare(.literal(let literal), let comparison, let operand, let options):
            return try render(
                .compare(operand, comparison.mirrored, .literal(literal), options), scopes, negated: negated)
        case .compare(.property(let path), .equal, .literal(let literal), [])
        where !literal.isNull && scopes.last.map({ isKeyBehindLink(path, $0) }) == true:
            // The link's own column holds the key, and may have an index.
            let link = try operand(.property(PropertyPath(path.names.dropLast())), scopes)
            guard let target = link.target else {
                throw ValueError("'\(path)' isn't the primary key of a linked object.")
            }
            let test = compare(link, .equal, literal)
            return negate("(\(test) AND \(isPresent(link, target, negated: false)))", negated)
        case .compare(.property(let path), .greater, .literal(.null), []) where isOwnText(path, scopes):
            return try render(.compare(.property(path), .notEqual, .literal(.null), []), scopes, negated: negated)
        case .compare(.property(let path), .greaterOrEqual, .literal(.null), []) where isOwnText(path, scopes):
            return negated ? "FALSE" : "TRUE"
        case .compare(let left, .lessOrEqual, .literal(.null), _),
            .compare(let left, .greaterOrEqual, .literal(.null), _):
            return try render(.compare(left, .equal, .literal(.null), []), scopes, negated: negated)
        case .compare(let left, let comparison, .literal(let literal), []):
            let operand = try operand(left, scopes)
            if literal.isNull, let target = operand.target {
                switch comparison {
                case .equal, .notEqual: return isPresent(operand, target, negated: (comparison == .equal) != negated)
                case .less, .lessOrEqual, .greater, .greaterOrEqual: break
                }
            }
            guard operand.isDecimal, !literal.isNull else {
                return negate(compare(operand, comparison, literal), negated)
            }
            return negate(compare(.operand(operand), comparison, .literal(literal), []), negated)
        case .compare(let left, let comparison, let right, let options):
            return negate(
                compare(try side(left, scopes), comparison, try side(right, scopes), options), negated)
        case .between(let operand, let low, let high):
            let operand = try self.operand(operand, scopes)
            let folding = operand.isDecimal ? Folding.decimal : .none
            let low = try side(low, scopes)
            let lowSQL = folding.apply(sql(low))
            let high = try side(high, scopes)
            let test = "\(operand.comparable) BETWEEN \(lowSQL) AND \(folding.apply(sql(high)))"
            guard low.isOptional || high.isOptional || operand.isDecimal else {
                return negate(twoValued(test, operand, onNull: false), negated)
            }
            return negate("coalesce(\(test), FALSE)", negated)
        case .isIn(let operand, let literals, let options):
            let subject = try self.operand(operand, scopes)
            if subject.target != nil, literals.contains(where: \.isNull) {
                // As in a comparison with nil, the link's target decides.
                let present = Filter.isIn(operand, literals.filter { !$0.isNull }, options)
                let isNil = Filter.compare(operand, .equal, .literal(.null), [])
                return try render(.or([present, isNil]), scopes, negated: negated)
            }
            guard !options.isEmpty || subject.isDecimal else { return negate(isIn(subject, literals), negated) }
            return negate(isIn(subject, literals, subject.isDecimal ? .decimal : .text(options)), negated)
        case .text(let left, let test, .literal(.null), _):
            guard test == .like else { return negated ? "FALSE" : "TRUE" }
            return try render(.compare(left, .equal, .literal(.null), []), scopes, negated: negated)
        case .text(let left, let test, let right, let options):
            if case .literal(.string(let text)) = right, options.isEmpty, let plain = test.ofPredicate {
                let operand = try operand(left, scopes)
                if operand.isColumn { return negate(self.text(operand, plain, text, ignoringCase: false), negated) }
            }
            return negate(text(try side(left, scopes), test, try side(right, scopes), options), negated)
        }
    }

    private mutating func join(
        _ parts: [Filter], _ scopes: ArraySlice<Scope>, conjunction: Bool, negated: Bool
    ) throws(ValueError) -> String {
        var rendered: [String] = []
        for part in parts.filter(\.isComposite) + parts.filter({ !$0.isComposite }) {
            rendered.append(try render(part, scopes, negated: negated))
        }
        return Self.joined(rendered, conjunction: conjunction)
    }

    private func isKeyBehindLink(_ path: PropertyPath, _ scope: Scope) -> Bool {
        guard let resolved = try? schema.resolve(path, from: scope.item), resolved.steps.count == 1,
            case .link(_, to: let target)? = resolved.steps.first, let key = target.primaryKey
        else { return false }
        return resolved.column == key
    }

    /// Whether a path is a string of the queried object itself. As in Realm, every such string is greater than nil.
    private func isOwnText(_ path: PropertyPath, _ scopes: ArraySlice<Scope>) -> Bool {
        scopes.count == 1 && scopes.first.map { $0.item.isOwnText(path) } == true
    }

    /// A link reads as nil if its target doesn't exist or hasn't arrived yet.
    private mutating func isPresent(_ link: Operand, _ target: ClassSchema, negated: Bool) -> String {
        aliasCount += 1
        let alias = dialect.quoted("tombolo_\(aliasCount)")
        return "\(negated ? "NOT " : "")EXISTS (SELECT 1 FROM \(dialect.quoted(target.table)) AS \(alias) "
            + "WHERE \(alias).\(key(of: target)) = \(link.sql))"
    }

    private mutating func side(_ operand: FilterOperand, _ scopes: ArraySlice<Scope>) throws(ValueError) -> Side {
        if case .literal(let value) = operand { return .literal(value) }
        return .operand(try self.operand(operand, scopes))
    }

    private mutating func sql(_ side: Side) -> String {
        switch side {
        case .operand(let operand): operand.sql
        case .literal(let value): bind(value, .string)
        }
    }

    private mutating func folded(_ side: Side, _ folding: Folding) -> String { folding.apply(sql(side)) }

    private mutating func compare(
        _ left: Side, _ comparison: Predicate.Comparison, _ right: Side, _ options: StringOptions
    ) -> String {
        let folding = Folding(left, right, options)
        let a = folded(left, folding)
        let b = folded(right, folding)
        switch comparison {
        case .equal: return "(\(a) IS \(b))"
        case .notEqual: return "(\(a) IS NOT \(b))"
        case .less, .greater: return "coalesce(\(a) \(Self.symbol(comparison)) \(b), FALSE)"
        case .lessOrEqual, .greaterOrEqual:
            let isNull = left.isOptional && right.isOptional ? "\(a) IS NULL AND \(b) IS NULL" : "FALSE"
            return "coalesce(\(a) \(Self.symbol(comparison)) \(b), \(isNull))"
        }
    }

    private mutating func isIn(_ operand: Operand, _ literals: [Value], _ folding: Folding) -> String {
        let present = literals.filter { !$0.isNull }
        let hasNull = present.count < literals.count
        guard !present.isEmpty else { return hasNull ? "(\(operand.sql) IS NULL)" : "FALSE" }
        let subject = folding.apply(operand.sql)
        if let listTable, parameters.count + present.count > Self.maximumParameterCount {
            lists.append(present)
            let values = "SELECT \(folding.apply("value")) FROM \(listTable) WHERE list = \(lists.count - 1)"
            return "coalesce(\(subject) IN (\(values)), \(hasNull ? "TRUE" : "FALSE"))"
        }
        let list = present.map { folding.apply(bind($0, .string)) }.joined(separator: ", ")
        let test = "\(subject) IN (\(list))"
        return "coalesce(\(test), \(hasNull ? "TRUE" : "FALSE"))"
    }

    private mutating func text(
        _ left: Side, _ test: Filter.TextTest, _ right: Side, _ options: StringOptions
    ) -> String {
        let folding = options.isEmpty ? Folding.none : .text(options)
        let condition: String
        switch test {
        case .contains:
            let subject = folded(left, folding)
            condition = "instr(\(subject), \(folded(right, folding))) > 0"
        case .beginsWith:
            let subject = folded(left, folding)
            let length = folded(right, folding)
            condition = "substr(\(subject), 1, length(\(length))) = \(folded(right, folding))"
        case .endsWith:
            // `substr(x, -0)` is all of x.
            let isEmpty = folded(right, folding)
            let subject = folded(left, folding)
            let length = folded(right, folding)
            let end = "substr(\(subject), -length(\(length))) = \(folded(right, folding))"
            let present = "\(sql(left)) IS NOT NULL"
            condition = "CASE WHEN length(\(isEmpty)) = 0 THEN \(present) ELSE \(end) END"
        case .like:
            let subject = sql(left)
            condition = "text_like(\(subject), \(sql(right)), \(options.rawValue))"
        }
        guard case .operand(let operand) = right, operand.isOptional else { return "coalesce(\(condition), FALSE)" }
        let subject = test == .like ? "\(sql(left)) IS NULL AND " : ""
        return "coalesce(\(condition), \(subject)\(operand.sql) IS NULL)"
    }
}

extension Filter {
    fileprivate var isComposite: Bool {
        switch self {
        case .and, .or, .quantified: true
        case .not(let inner): inner.isComposite
        case .constant, .compare, .between, .isIn, .text: false
        }
    }

    /// The same condition with constants in place of tests against literals that no property can hold, such as NaN or
    /// strings that contain U+0000.
    var withoutImpossibleLiterals: Filter {
        switch self {
        case .constant: self
        case .compare(let left, let comparison, let right, let options):
            left.canBeHeld && right.canBeHeld
                ? .compare(left.withoutImpossibleLiterals, comparison, right.withoutImpossibleLiterals, options)
                : .constant(comparison == .notEqual)
        case .between(let operand, let low, let high):
            low.canBeHeld && high.canBeHeld
                ? .between(operand.withoutImpossibleLiterals, low, high) : .constant(false)
        case .isIn(let operand, let literals, let options):
            .isIn(operand.withoutImpossibleLiterals, literals.filter(\.canBeHeld), options)
        case .text(let left, let test, let right, let options):
            left.canBeHeld && right.canBeHeld ? .text(left, test, right, options) : .constant(false)
        case .quantified(let quantifier, let path, let inner):
            .quantified(quantifier, path, inner.withoutImpossibleLiterals)
        case .and(let parts): .and(parts.map(\.withoutImpossibleLiterals))
        case .or(let parts): .or(parts.map(\.withoutImpossibleLiterals))
        case .not(let inner): .not(inner.withoutImpossibleLiterals)
        }
    }
}

extension FilterOperand {
    fileprivate var canBeHeld: Bool { if case .literal(let value) = self { value.canBeHeld } else { true } }

    fileprivate var withoutImpossibleLiterals: FilterOperand {
        switch self {
        case .count(let path, let condition): .count(path, condition.withoutImpossibleLiterals)
        case .outer(let inner): .outer(inner.withoutImpossibleLiterals)
        case .literal, .property, .element, .aggregate, .length: self
        }
    }
}
