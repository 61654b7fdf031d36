internal import TomboloModel

extension SQLBuilder {
    /// - Parameter scopes: the scopes, outermost first.
    mutating func operand(
        _ operand: FilterOperand, _ scopes: ArraySlice<Scope>
    ) throws(ValueError) -> Operand {
        guard let scope = scopes.last else { throw ValueError("A condition refers to an object outside its query.") }
        switch operand {
        case .outer(let inner): return try self.operand(inner, scopes.dropLast())
        case .property(let path): return try self.operand(path, from: scope)
        case .literal(let value):
            return Operand(sql: bind(value, .string), type: .string, isOptional: value.isNull, isColumn: false)
        case .element:
            if let value = scope.item.scalarElement {
                return Operand(
                    sql: "\(scope.alias).\(dialect.quoted(value.sqlName))", type: value.type.stored,
                    isOptional: value.isOptional, isColumn: true)
            }
            return Operand(
                sql: "\(scope.alias).\(key(of: scope.item))", type: scope.item.primaryKey?.type ?? .int(bits: 64),
                isOptional: false, isColumn: true)
        case .length(let path):
            let inner = try self.operand(path, from: scope)
            return Operand(
                sql: "length(CAST(\(inner.sql) AS BLOB))", type: .int(bits: 64), isOptional: inner.isOptional,
                isColumn: false)
        case .count(let path, let condition):
            let elements = try elements(at: path, from: scope)
            let test = try render(condition, scopes + [elements.scope], negated: false)
            return Operand(
                sql: "(\(elements.select("count(*)", where: test)))", type: .int(bits: 64), isOptional: false,
                isColumn: false)
        case .aggregate(let aggregate, let path, let value):
            let elements = try elements(at: path, from: scope)
            let value = try self.operand(value, scopes + [elements.scope])
            let result = Self.aggregate(aggregate, of: value)
            return Operand(
                sql: "(\(elements.select(result.sql)))", type: result.type, isOptional: result.isOptional,
                isColumn: false)
        }
    }

    /// An aggregate over many rows.
    static func aggregate(_ aggregate: FilterOperand.Aggregate, of value: Operand) -> Operand {
        func result(_ sql: String, _ type: PropertyType, isOptional: Bool) -> Operand {
            Operand(sql: sql, type: type, isOptional: isOptional, isColumn: false)
        }
        switch (aggregate, value.type) {
        case (.min, .decimal128): return result("decimal_min(\(value.sql))", .decimal128, isOptional: true)
        case (.max, .decimal128): return result("decimal_max(\(value.sql))", .decimal128, isOptional: true)
        case (.average, .decimal128): return result("decimal_avg(\(value.sql))", .decimal128, isOptional: true)
        case (.sum, .decimal128): return result("decimal_sum(\(value.sql))", .decimal128, isOptional: false)
        case (.min, let type): return result("min(\(value.sql))", type, isOptional: true)
        case (.max, let type): return result("max(\(value.sql))", type, isOptional: true)
        case (.average, _): return result("avg(\(value.sql))", .double, isOptional: true)
        case (.sum, .int):
            // `sum` fails on overflow. The sums of the two halves don't. Combining them is exact for a sum of 64 bits,
            // since the lower half carries over first, and gives a double for any other.
            let (high, low) = ("sum(\(value.sql) >> 32)", "sum(\(value.sql) & 4294967295)")
            let sql = "coalesce((\(high) + (\(low) >> 32)) * 4294967296 + (\(low) & 4294967295), 0)"
            return result(sql, .int(bits: 64), isOptional: false)
        case (.sum, _): return result("coalesce(sum(\(value.sql)), 0.0)", value.type, isOptional: false)
        }
    }
}
