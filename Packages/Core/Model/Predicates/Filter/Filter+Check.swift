extension Filter {
    /// Checks names and types against a class.
    /// - Throws: ``ValueError``, which names the property and what it accepts; for an unknown name, also the nearest one.
    public func check(for className: String, in schema: Schema) throws(ValueError) {
        guard let item = schema[className] else { throw ValueError("There is no class \(className) in the schema.") }
        try check(in: [item], schema)
    }

    func check(in scopes: ArraySlice<ClassSchema>, _ schema: Schema) throws(ValueError) {
        switch self {
        case .constant: break
        case .and(let parts), .or(let parts): for part in parts { try part.check(in: scopes, schema) }
        case .not(let inner): try inner.check(in: scopes, schema)
        case .quantified(_, let path, let inner):
            guard let item = scopes.last else { throw ValueError("A condition refers to an object outside its query.") }
            try inner.check(in: scopes + [schema.elements(at: path, of: item)], schema)
        case .compare(.literal(let left), _, .literal(let right), _):
            throw ValueError(
                "\(left) and \(right) are both values: at least one side of a comparison must be a property.")
        case .compare(.literal(let literal), let comparison, let operand, let options):
            try Filter.compare(operand, comparison.mirrored, .literal(literal), options).check(in: scopes, schema)
        case .compare(let left, let comparison, let right, let options):
            let type = try schema.type(of: left, in: scopes)
            try type.accept(right, in: scopes, schema, isEquality: comparison == .equal || comparison == .notEqual)
            try type.accept(options)
        case .between(let operand, let low, let high):
            let type = try schema.type(of: operand, in: scopes)
            try type.accept(low, in: scopes, schema, isEquality: false)
            try type.accept(high, in: scopes, schema, isEquality: false)
        case .isIn(let operand, let literals, let options):
            let type = try schema.type(of: operand, in: scopes)
            for literal in literals { try type.accept(literal, schema, isEquality: true) }
            try type.accept(options)
        case .text(let left, let test, let right, let options):
            guard case .literal(let literal) = left else {
                try schema.type(of: left, in: scopes).acceptText(test, options)
                if case .literal(let literal) = right {
                    try schema.type(of: left, in: scopes).accept(literal, schema, isEquality: true)
                } else {
                    try schema.type(of: left, in: scopes).accept(right, in: scopes, schema, isEquality: true)
                }
                return
            }
            guard case .literal = right else {
                let type = try schema.type(of: right, in: scopes)
                try type.acceptText(test, options)
                return try type.accept(literal, schema, isEquality: true)
            }
            throw ValueError(
                "\(left) and \(right) are both values: at least one side of a comparison must be a property.")
        }
    }
}

extension OperandType {
    fileprivate func accept(
        _ operand: FilterOperand, in scopes: ArraySlice<ClassSchema>, _ schema: Schema, isEquality: Bool
    ) throws(ValueError) {
        if case .literal(let value) = operand { return try accept(value, schema, isEquality: isEquality) }
        let other = try schema.type(of: operand, in: scopes)
        guard family == other.family else {
            throw ValueError(
                "\(name) is of type \(type.name) and cannot be compared with \(other.name) of type \(other.type.name).")
        }
        try checkComparable(isEquality: isEquality)
    }

    /// Throws if the operand can't be compared with the literal.
    package func accept(_ literal: Value, _ schema: Schema, isEquality: Bool) throws(ValueError) {
        if literal.isNull { return }
        try checkComparable(isEquality: isEquality)
        var family = family
        if case .object(let target) = family {
            let key = schema[target]?.primaryKey?.type ?? .int(bits: 64)
            family = OperandType(key, isOptional: false, name: name).family
        }
        guard literal.family == family else {
            throw ValueError("\(name) is of type \(type.name) and cannot be compared with \(literal.typedText).")
        }
    }

    private func checkComparable(isEquality: Bool) throws(ValueError) {
        switch family {
        case .object where isEquality: break
        case .object: throw ValueError("\(name) is a link: links have no order and can only be compared by == and !=.")
        case .embedded:
            throw ValueError("\(name) is an embedded object: compare its properties, or compare it with nil.")
        case .opaque where isEncrypted:
            throw ValueError("\(name) is encrypted: a query can only compare it with nil.")
        case .opaque:
            throw ValueError(
                "\(name) is a list inside an embedded object, stored in one column that queries can't look into."
            )
        case .bool, .number, .decimal, .string, .data, .date, .objectId, .uuid: break
        }
    }

    package func accept(_ options: StringOptions) throws(ValueError) {
        guard options.isEmpty || family == .string else {
            throw ValueError("\(name) is of type \(type.name); \(options.text) needs a string.")
        }
    }

    package func acceptText(_ test: Filter.TextTest, _ options: StringOptions) throws(ValueError) {
        guard family == .string || family == .data && test != .like && options.isEmpty else {
            throw ValueError("\(name) is of type \(type.name); \(test.rawValue)\(options.text) needs a string.")
        }
    }
}

extension Value {
    /// The literal with its type, for messages.
    package var typedText: String { "\(self)" + (family.map { " of type \(typeName ?? $0.name)" } ?? "") }

    private var typeName: String? {
        switch self {
        case .int: "int"
        case .double: "double"
        default: nil
        }
    }
}
