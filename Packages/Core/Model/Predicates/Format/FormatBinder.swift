/// Resolves the names of a string predicate to properties and converts its values to their types.
struct FormatBinder {
    /// A place where paths start: the object, or an element inside a SUBQUERY.
    private struct Scope {
        let item: ClassSchema
        let variable: String?
    }

    /// One side of a comparison.
    private enum Side {
        case one(FilterOperand, OperandType)
        /// The elements of a list, and the operand to compare for each of them.
        case many(PropertyPath, FilterOperand, OperandType)
        case literal(FormatLiteral)
        case list([FormatLiteral])
    }

    private let schema: Schema
    private let text: [Unicode.Scalar]
    private var scopes: [Scope]

    static func bind(
        _ syntax: FormatSyntax, _ text: [Unicode.Scalar], to item: ClassSchema, in schema: Schema
    ) throws(FilterFormatError) -> Filter {
        var binder = FormatBinder(schema: schema, text: text, scopes: [Scope(item: item, variable: nil)])
        return try binder.bind(syntax)
    }

    private func error(_ message: String, at position: Int) -> FilterFormatError {
        FilterFormatError(message, at: position, of: text)
    }

    private func at<Result>(
        _ position: Int, _ body: () throws(ValueError) -> Result
    ) throws(FilterFormatError) -> Result {
        do throws(ValueError) { return try body() } catch { throw self.error(error.message, at: position) }
    }

    private mutating func bind(_ syntax: FormatSyntax) throws(FilterFormatError) -> Filter {
        switch syntax {
        case .constant(let value): return .constant(value)
        case .and(let parts): return .all(try bind(parts))
        case .or(let parts): return .any(try bind(parts))
        case .not(let inner): return .not(try bind(inner))
        case .comparison(let comparison):
            let filter = try bind(comparison)
            let items = scopes.map(\.item)
            try at(comparison.position) { () throws(ValueError) in try filter.check(in: items[...], schema) }
            return filter
        }
    }

    private mutating func bind(_ parts: [FormatSyntax]) throws(FilterFormatError) -> [Filter] {
        var result: [Filter] = []
        for part in parts { result.append(try bind(part)) }
        return result
    }

    // MARK: Comparisons

    private mutating func bind(_ comparison: FormatComparison) throws(FilterFormatError) -> Filter {
        let left = try side(comparison.left)
        let right = try side(comparison.right)
        let position = comparison.position
        switch (comparison.test, left, right) {
        case (.isIn, .literal, .many), (.isIn, .one, .many):
            // `%@ IN list` means that the list contains the value.
            guard comparison.quantifier == nil else {
                throw error("ANY, ALL and NONE go before the path of a list, on the left side.", at: position)
            }
            return try compare(right, .compare(.equal), left, comparison, quantifier: .any)
        case (.text(.contains), .many(_, .element, _), _) where comparison.quantifier == nil:
            return try compare(left, .compare(.equal), right, comparison, quantifier: .any)
        case (.isIn, _, .one(_, let type)), (.between, _, .one(_, let type)):
            throw error("\(type.name) is not a list: expected {…} or an argument with several values.", at: position)
        case (.isIn, _, .literal(let literal)), (.between, _, .literal(let literal)):
            throw error(
                "\(literal.text) is not a list: expected {…} or an argument with several values.", at: position)
        case (.between, _, .many):
            throw error("BETWEEN takes two values: {lowest, highest}.", at: position)
        case (_, .literal, .one), (_, .literal, .many):
            guard case .compare(let test) = comparison.test else {
                return try compare(left, comparison.test, right, comparison, quantifier: comparison.quantifier)
            }
            return try compare(right, .compare(test.mirrored), left, comparison, quantifier: comparison.quantifier)
        case (.compare(let test), .one, .many):
            return try compare(right, .compare(test.mirrored), left, comparison, quantifier: comparison.quantifier)
        default: return try compare(left, comparison.test, right, comparison, quantifier: comparison.quantifier)
        }
    }

    private func compare(
        _ left: Side, _ test: FormatComparison.Test, _ right: Side, _ comparison: FormatComparison,
        quantifier: Filter.Quantifier?
    ) throws(FilterFormatError) -> Filter {
        let position = comparison.position
        switch left {
        case .list: throw error("A list of values can only be on the right side.", at: position)
        case .literal(let literal):
            guard case .text(let test) = test, quantifier == nil, case .one(let operand, let type) = right else {
                throw error("At least one side of a comparison must be a property.", at: position)
            }
            try at(position) { () throws(ValueError) in try type.acceptText(test, comparison.options) }
            let value = try convert(literal, to: type, at: position)
            return .text(.literal(value), test, operand, comparison.options)
        case .one(let operand, let type):
            if let quantifier {
                throw error(
                    "\(type.name) is a single value, but \(quantifier.rawValue) applies only to lists.",
                    at: comparison.left.position)
            }
            if case .many(let path, _, _) = right {
                throw error(
                    "'\(path)' has many values: put ANY, ALL or NONE before it.", at: comparison.right.position)
            }
            return try filter(operand, type, test, right, comparison, isElement: false)
        case .many(let path, let operand, let type):
            guard let quantifier else {
                throw error(
                    "'\(path)' has many values: put ANY, ALL or NONE before it, or use @count, @min, @max, @sum or "
                        + "@avg.", at: comparison.left.position)
            }
            if case .many = right { throw error("Only one side of a comparison can be a list.", at: position) }
            return .quantified(
                quantifier, path, try filter(operand, type, test, right, comparison, isElement: true))
        }
    }

    /// - Parameter isElement: whether the left operand belongs to an element, which puts the right operand one level
    ///   further out.
    private func filter(
        _ left: FilterOperand, _ type: OperandType, _ test: FormatComparison.Test, _ right: Side,
        _ comparison: FormatComparison, isElement: Bool
    ) throws(FilterFormatError) -> Filter {
        let position = comparison.position
        let options = comparison.options
        func other() throws(FilterFormatError) -> FilterOperand {
            switch right {
            case .literal(let literal): return .literal(try convert(literal, to: type, at: comparison.right.position))
            case .one(let operand, let otherType):
                guard type.family == otherType.family else {
                    throw error(
                        "\(type.name) is of type \(type.type.name) and cannot be compared with \(otherType.name) of type "
                            + "\(otherType.type.name).", at: position)
                }
                return isElement ? operand.seenFromElement() : operand
            case .list:
                throw error("Use IN or BETWEEN to compare with a list of values.", at: comparison.right.position)
            case .many: throw error("Only one side of a comparison can be a list.", at: position)
            }
        }
        func literals() throws(FilterFormatError) -> [Value] {
            guard case .list(let list) = right else { return [] }
            var values: [Value] = []
            for literal in list { values.append(try convert(literal, to: type, at: comparison.right.position)) }
            return values
        }
        switch test {
        case .compare(let test):
            try at(position) { () throws(ValueError) in try type.accept(options) }
            return .compare(left, test, try other(), options)
        case .text(let test):
            try at(position) { () throws(ValueError) in try type.acceptText(test, options) }
            return .text(left, test, try other(), options)
        case .isIn:
            try at(position) { () throws(ValueError) in try type.accept(options) }
            return .isIn(left, try literals(), options)
        case .between:
            let bounds = try literals()
            guard bounds.count == 2 else {
                throw error("BETWEEN takes two values, not \(bounds.count): {lowest, highest}.", at: position)
            }
            return .between(left, .literal(bounds[0]), .literal(bounds[1]))
        }
    }

    // MARK: Values

    private func convert(
        _ literal: FormatLiteral, to type: OperandType, at position: Int
    ) throws(FilterFormatError) -> Value {
        let value: Value =
            switch (literal, type.type) {
            case (.null, _): .null
            case (.bool(let value), _): .bool(value)
            case (.number(.int(0), _), .bool): .bool(false)
            case (.number(.int(1), _), .bool): .bool(true)
            case (.number(let number, let text), .decimal128):
                Decimal128(text).map(Value.decimal) ?? number.converted(to: .decimal128)
            case (.number(let number, _), let type): number.converted(to: type)
            case (.value(let value), _): value
            case (.object(let object), .link(let target)):
                try at(position) { () throws(ValueError) in
                    guard object.className == target, let object = object as? Object else {
                        throw ValueError(
                            "\(type.name) links to \(target) and cannot be compared with a \(object.className).")
                    }
                    return object.keyForQueries
                }
            case (.object(let object), _):
                throw error(
                    "\(type.name) is of type \(type.type.name) and cannot be compared with a \(object.className).",
                    at: position)
            }
        if case .link(let target) = type.type, !value.isNull {
            guard case .object = literal else {
                throw error(
                    "\(type.name) is a link to \(target) and cannot be compared with \(literal.text): pass the object, "
                        + "or compare its primary key.", at: position)
            }
        }
        try at(position) { () throws(ValueError) in try type.accept(value, schema, isEquality: true) }
        return value
    }

    // MARK: Operands

    private mutating func side(_ operand: FormatOperand) throws(FilterFormatError) -> Side {
        switch operand {
        case .literal(let literal, _): return .literal(literal)
        case .list(let literals, _): return .list(literals)
        case .path(let path): return try side(path)
        case .subquery(let path, let variable, let condition, let position):
            let (outward, item, distance) = try start(of: path)
            let collection = PropertyPath(path.names)
            let elements = try at(position) { () throws(ValueError) in try schema.elements(at: collection, of: item) }
            let here = scopes
            // Scopes inside the one that has the list don't apply to the path to its elements.
            scopes.removeLast(distance)
            scopes.append(Scope(item: elements, variable: variable))
            defer { scopes = here }
            let condition = try bind(condition)
            let count = FilterOperand.count(collection, condition)
            return .one(
                outward(count),
                OperandType(
                    .int(bits: 64), isOptional: false, name: "\(item.name).\(path.names.joined(separator: ".")).@count")
            )
        }
    }

    /// Where a path starts: the class, a conversion of its operands for use here, and the number of scopes in between.
    private func start(
        of path: FormatPath
    ) throws(FilterFormatError) -> (outward: (FilterOperand) -> FilterOperand, item: ClassSchema, distance: Int) {
        var distance = 0
        if let variable = path.variable {
            guard let index = scopes.lastIndex(where: { $0.variable == variable }) else {
                let known = scopes.compactMap { $0.variable.map { "$\($0)" } }
                throw error(
                    "There is no variable $\(variable) here"
                        + (known.isEmpty
                            ? ": only a SUBQUERY declares variables."
                            : "; available: \(known.joined(separator: ", "))."),
                    at: path.position)
            }
            distance = scopes.count - 1 - index
        }
        let item = scopes[scopes.count - 1 - distance].item
        return ({ operand in (0..<distance).reduce(operand) { inner, _ in .outer(inner) } }, item, distance)
    }

    private mutating func side(_ path: FormatPath) throws(FilterFormatError) -> Side {
        let (outward, item, _) = try start(of: path)
        let names = PropertyPath(path.names)
        func typed(_ operand: FilterOperand) throws(FilterFormatError) -> Side {
            let type = try at(path.position) { () throws(ValueError) in try schema.type(of: operand, in: [item]) }
            return .one(outward(operand), type)
        }
        if let function = path.function { return try typed(self.function(function, path, item)) }
        guard !path.names.isEmpty else { return try typed(.element) }
        let split = try at(path.position) { () throws(ValueError) in try schema.split(names, from: item) }
        guard let (collection, rest) = split else { return try typed(.property(names)) }
        let isHere = path.variable == nil || scopes.last?.variable == path.variable
        guard isHere else {
            throw error(
                "'\(collection)' is a list of an outer object: use it in that object's SUBQUERY.", at: path.position)
        }
        let type = try at(path.position) { () throws(ValueError) in
            try schema.type(of: rest, in: [item, schema.elements(at: collection, of: item)])
        }
        return .many(collection, rest, type)
    }

    private func function(
        _ name: String, _ path: FormatPath, _ item: ClassSchema
    ) throws(FilterFormatError) -> FilterOperand {
        let names = PropertyPath(path.names + path.namesAfterFunction)
        guard !path.names.isEmpty else {
            throw error("Put @\(name) after the name of a list.", at: path.functionPosition)
        }
        let split = try at(path.position) { () throws(ValueError) in try schema.split(names, from: item) }
        switch (name.lowercased(), split) {
        case ("count", let split?), ("size", let split?):
            guard path.namesAfterFunction.isEmpty else {
                throw error("Nothing can follow @\(name).", at: path.functionPosition)
            }
            return .count(split.collection, .constant(true))
        case ("count", nil), ("size", nil): return .length(names)
        case ("min", let split?), ("max", let split?), ("sum", let split?), ("avg", let split?):
            guard let aggregate = FilterOperand.Aggregate(rawValue: name.lowercased()) else { break }
            return .aggregate(aggregate, split.collection, split.rest)
        case ("min", nil), ("max", nil), ("sum", nil), ("avg", nil):
            throw error("'\(names)' is not a list, and @\(name) applies only to lists.", at: path.functionPosition)
        default: break
        }
        let known = ["count", "min", "max", "sum", "avg", "size"]
        let hint =
            name.nearest(in: known).map { "; did you mean @\($0)?" }
            ?? ". Available: @\(known.joined(separator: ", @"))."
        throw error("There is no function @\(name)\(hint)", at: path.functionPosition)
    }
}

extension Value {
    /// The number to use in a comparison with a property of this type: whole doubles become integers, integers become
    /// doubles if that is exact, and for a float property the nearest float is taken.
    package func converted(to type: PropertyType) -> Value {
        switch (self, type) {
        case (.double(let number), .int): return Int64(exactly: number).map(Value.int) ?? self
        case (.int(let number), .double): return Double(exactly: number).map(Value.double) ?? self
        case (.int(let number), .decimal128): return .decimal(Decimal128(number))
        case (.double(let number), .decimal128): return .decimal(Decimal128(number))
        case (.int(let number), .float): return Value.double(Double(number)).converted(to: .float)
        case (.double(let number), .float):
            let near = Double(Float(number))
            return near.isFinite || !number.isFinite ? .double(near) : self
        default: return self
        }
    }
}

extension Object {
    /// What the object is compared by: its primary key. An unmanaged object of a class without a primary key never
    /// equals a queried object.
    var keyForQueries: Value {
        if let key = accessor?.linkKey { return key }
        let layout = ObjectClass.of(type(of: self))
        // No row has this rowid: rowids start at 1.
        guard let key = layout.schema.primaryKeyIndex else { return .int(-1) }
        if let accessor { return accessor.value(at: key) }
        return layout.properties[layout.propertyOfColumn[key]].unmanagedValue(of: self).value._tomboloValue
    }
}
