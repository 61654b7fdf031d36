/// The type of an operand, which is a property, a count or a literal.
package struct OperandType: Hashable, Sendable {
    /// Types whose values can be compared with each other.
    package enum Family: Hashable, Sendable {
        case bool, number, decimal, string, data, date, objectId, uuid
        /// Objects of a class.
        case object(String)
        /// Embedded objects, which can only be compared with nil.
        case embedded(String)
        /// A list in one column or an encrypted property, which can only be compared with nil.
        case opaque(String)
    }

    package let type: PropertyType
    package let isOptional: Bool
    /// The operand in messages: `Talk.seats`.
    package let name: String
    package let isEncrypted: Bool

    package init(_ type: PropertyType, isOptional: Bool, name: String, isEncrypted: Bool = false) {
        self.type = type
        self.isOptional = isOptional
        self.name = name
        self.isEncrypted = isEncrypted
    }

    package var family: Family {
        if isEncrypted { return .opaque("encrypted") }
        switch type {
        case .bool: return .bool
        case .int, .float, .double: return .number
        case .decimal128: return .decimal
        case .string: return .string
        case .data: return .data
        case .date: return .date
        case .objectId: return .objectId
        case .uuid: return .uuid
        case .link(let target): return .object(target)
        case .embedded(let name): return .embedded(name)
        case .array, .list, .linkingObjects: return .opaque(type.name)
        }
    }
}

extension OperandType.Family {
    package var name: String {
        switch self {
        case .bool: "bool"
        case .number: "number"
        case .decimal: "decimal128"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .objectId: "objectId"
        case .uuid: "uuid"
        case .object(let target): "link to \(target)"
        case .embedded(let name): "embedded \(name)"
        case .opaque(let name): name
        }
    }
}

extension Value {
    /// The family of the value, or nil for null, which belongs to every family.
    package var family: OperandType.Family? {
        switch self {
        case .null: nil
        case .bool: .bool
        case .int, .double: .number
        case .decimal: .decimal
        case .string: .string
        case .data: .data
        case .date: .date
        case .objectId: .objectId
        case .uuid: .uuid
        }
    }

    /// Whether any property can hold the value. App users may enter values that none can: every object is unequal to
    /// such a value, and none equals, exceeds or contains it.
    package var canBeHeld: Bool {
        switch self {
        case .double(let number): !number.isNaN
        case .string(let text): text.utf8.count <= Value.maximumByteCount && !text.utf8.contains(0)
        case .data(let data): data.count <= Value.maximumByteCount
        case .null, .bool, .int, .date, .objectId, .uuid, .decimal: true
        }
    }
}

extension Schema {
    /// The type of an operand as seen from the innermost class.
    /// - Parameter scopes: the classes of the object and of the quantifiers' elements, outermost first.
    /// - Throws: ``ValueError`` if the operand doesn't exist.
    package func type(
        of operand: FilterOperand, in scopes: ArraySlice<ClassSchema>
    ) throws(ValueError) -> OperandType {
        guard let item = scopes.last else { throw ValueError("A condition refers to an object outside its query.") }
        switch operand {
        case .literal(let value): throw ValueError("\(value) is a value, not a property.")
        case .outer(let inner): return try type(of: inner, in: scopes.dropLast())
        case .element:
            if let column = item.scalarElement {
                return OperandType(column.type, isOptional: column.isOptional, name: item.name)
            }
            if case .embedded(let schema)? = item.owner?.element {
                return OperandType(.embedded(schema.name), isOptional: false, name: item.name)
            }
            return OperandType(.link(to: item.name), isOptional: false, name: item.name)
        case .property(let path):
            let resolved = try resolve(path, from: item)
            guard !resolved.isToMany, let column = resolved.column else {
                let list = path.names.prefix(resolved.collectionNameCount).joined(separator: ".")
                throw ValueError(
                    "\(item.name).\(path) goes through '\(list)', which is a list: put ANY, ALL or NONE before it, or "
                        + "use @count, @min, @max, @sum or @avg.")
            }
            return OperandType(
                column.type, isOptional: column.isOptional || !resolved.steps.isEmpty, name: "\(item.name).\(path)",
                isEncrypted: column.isEncrypted)
        case .length(let path):
            let inner = try type(of: .property(path), in: scopes)
            guard inner.family == .string || inner.family == .data else {
                throw ValueError(
                    "\(inner.name) is of type \(inner.type.name) and has no size; only strings, data and lists do.")
            }
            return OperandType(.int(bits: 64), isOptional: inner.isOptional, name: "\(inner.name).@size")
        case .count(let path, let condition):
            let elements = try elements(at: path, of: item)
            try condition.check(in: scopes + [elements], self)
            return OperandType(.int(bits: 64), isOptional: false, name: "\(item.name).\(path).@count")
        case .aggregate(let aggregate, let path, let value):
            let inner = try type(of: value, in: scopes + [elements(at: path, of: item)])
            let name = "\(item.name).\(path).@\(aggregate.rawValue)"
            switch (inner.family, aggregate) {
            case (.number, _), (.decimal, _), (.date, .min), (.date, .max): break
            default:
                throw ValueError(
                    "\(inner.name) is of type \(inner.type.name), which doesn't support @\(aggregate.rawValue). "
                        + "Numbers support @min, @max, @sum and @avg; dates support @min and @max.")
            }
            switch (aggregate, inner.type) {
            case (.min, _), (.max, _): return OperandType(inner.type, isOptional: true, name: name)
            case (.sum, .int): return OperandType(.int(bits: 64), isOptional: false, name: name)
            case (.sum, .float): return OperandType(.double, isOptional: false, name: name)
            case (.sum, _): return OperandType(inner.type, isOptional: false, name: name)
            case (.average, .decimal128): return OperandType(.decimal128, isOptional: true, name: name)
            case (.average, _): return OperandType(.double, isOptional: true, name: name)
            }
        }
    }

    /// The class of the elements at a path.
    package func elements(at path: PropertyPath, of item: ClassSchema) throws(ValueError) -> ClassSchema {
        let resolved = try resolve(path, from: item)
        guard resolved.isToMany, resolved.collectionNameCount == path.names.count else {
            throw ValueError(
                "\(item.name).\(path) is not a list: ANY, ALL, NONE, @count and the like apply only to lists.")
        }
        return resolved.item
    }
}
