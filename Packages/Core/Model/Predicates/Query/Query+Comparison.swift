extension Query where T: Persistable {
    private func compare(_ comparison: Predicate.Comparison, _ value: T) -> Query<Bool> {
        condition(node.compare(comparison, value, of: T.self))
    }

    public static func == (left: Query<T>, right: T) -> Query<Bool> { left.compare(.equal, right) }
    public static func != (left: Query<T>, right: T) -> Query<Bool> { left.compare(.notEqual, right) }
    public static func < (left: Query<T>, right: T) -> Query<Bool> { left.compare(.less, right) }
    public static func <= (left: Query<T>, right: T) -> Query<Bool> { left.compare(.lessOrEqual, right) }
    public static func > (left: Query<T>, right: T) -> Query<Bool> { left.compare(.greater, right) }
    public static func >= (left: Query<T>, right: T) -> Query<Bool> { left.compare(.greaterOrEqual, right) }

    /// Whether the value is in a collection. Nil counts as a value.
    public func `in`(_ values: some Sequence<T>) -> Query<Bool> {
        let literals = values.map { $0.queryLiteral }
        return condition(node.test { .isIn($0, literals, []) })
    }
}

/// Comparisons of two properties of the same kind, either of which may be optional.
extension Query where T: Persistable {
    private func compare<Other>(_ comparison: Predicate.Comparison, _ other: Query<Other>) -> Query<Bool> {
        condition(node.compare(comparison, other.node))
    }

    public static func == <U: Persistable>(left: Query<T>, right: Query<U>) -> Query<Bool> {
        left.compare(.equal, right)
    }
    public static func != <U: Persistable>(left: Query<T>, right: Query<U>) -> Query<Bool> {
        left.compare(.notEqual, right)
    }
    public static func < <U: Persistable>(left: Query<T>, right: Query<U>) -> Query<Bool> {
        left.compare(.less, right)
    }
    public static func <= <U: Persistable>(left: Query<T>, right: Query<U>) -> Query<Bool> {
        left.compare(.lessOrEqual, right)
    }
    public static func > <U: Persistable>(left: Query<T>, right: Query<U>) -> Query<Bool> {
        left.compare(.greater, right)
    }
    public static func >= <U: Persistable>(left: Query<T>, right: Query<U>) -> Query<Bool> {
        left.compare(.greaterOrEqual, right)
    }
}

extension Query where T: Persistable & Comparable {
    /// Whether the value is within a closed range.
    public func contains(_ range: ClosedRange<T>) -> Query<Bool> { within(range) }

    /// Whether the value is within a half-open range.
    public func contains(_ range: Range<T>) -> Query<Bool> { within(range) }
}

extension Query {
    /// Whether the value is within a closed range; false for nil.
    public func contains<Wrapped: OptionalPersistable & Comparable>(
        _ range: ClosedRange<Wrapped>
    ) -> Query<Bool> where T == Wrapped? { within(range) }

    /// Whether the value is within a half-open range; false for nil.
    public func contains<Wrapped: OptionalPersistable & Comparable>(
        _ range: Range<Wrapped>
    ) -> Query<Bool> where T == Wrapped? { within(range) }

    private func within<Bound: Persistable>(_ range: ClosedRange<Bound>) -> Query<Bool> {
        let (low, high) = (range.lowerBound.queryLiteral, range.upperBound.queryLiteral)
        return condition(node.test { .between($0, .literal(low), .literal(high)) })
    }

    private func within<Bound: Persistable>(_ range: Range<Bound>) -> Query<Bool> {
        let (low, high) = (range.lowerBound.queryLiteral, range.upperBound.queryLiteral)
        return condition(
            node.test {
                .all([.compare($0, .greaterOrEqual, .literal(low), []), .compare($0, .less, .literal(high), [])])
            })
    }
}

extension Persistable {
    /// What the value is compared by: its stored form, or for an object its primary key.
    var queryLiteral: Value {
        switch _tomboloStored {
        case .value(let value): return value.converted(to: Self._propertyType)
        case .object(let object as Object): return object.keyForQueries
        case .object(let object):
            preconditionFailure("A \(object.className) is an embedded object: compare its properties.")
        }
    }
}

extension QueryNode {
    fileprivate func compare<T: Persistable>(_ comparison: Predicate.Comparison, _ value: T, of type: T.Type) -> Filter
    {
        guard case .object(let object as EmbeddedObject) = value._tomboloStored else {
            let literal = value.queryLiteral
            return test { .compare($0, comparison, .literal(literal), []) }
        }
        switch comparison {
        case .equal: return test { $0.equals(object) }
        case .notEqual: return test { .not($0.equals(object)) }
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            preconditionFailure("Embedded objects have no order; compare their properties.")
        }
    }
}

extension FilterOperand {
    /// Whether the embedded object has the same values as another, property by property.
    fileprivate func equals(_ object: EmbeddedObject) -> Filter {
        let start: [String]
        switch self {
        case .property(let path): start = path.names
        case .element: start = []
        case .literal, .count, .aggregate, .length, .outer:
            preconditionFailure("An embedded object can only be compared with a property.")
        }
        var parts: [Filter] = []
        if !start.isEmpty { parts.append(.compare(self, .notEqual, .literal(.null), [])) }
        for property in ObjectClass.of(type(of: object)).properties {
            let operand = FilterOperand.property(PropertyPath(start + [property.name]))
            let value = property.value(of: object)
            switch (property.slot, value._tomboloStored) {
            case (.column, .object(let linked as Object)):
                parts.append(.compare(operand, .equal, .literal(linked.keyForQueries), []))
            case (.column, .value(let value)): parts.append(.compare(operand, .equal, .literal(value), []))
            case (.embedded, .object(let inner as EmbeddedObject)): parts.append(operand.equals(inner))
            case (.embedded, _): parts.append(.compare(operand, .equal, .literal(.null), []))
            case (.column, _), (.list, _), (.array, _), (.linkingObjects, _):
                preconditionFailure(
                    "\(object.className).\(property.name) is a list; compare the other properties one by one.")
            }
        }
        return .all(parts)
    }
}

extension ObjectProperty {
    /// The property's value in a managed or unmanaged object.
    fileprivate func value(of object: ObjectBase) -> any Persistable {
        guard let accessor = object.accessor else { return unmanagedValue(of: object).value }
        let position: Int
        switch slot {
        case .column(let column), .embedded(let column): position = column
        case .list, .array, .linkingObjects:
            position = ObjectClass.of(type(of: object)).position(ofProperty: name) ?? 0
        }
        return valueType._read(accessor, position)
    }
}
