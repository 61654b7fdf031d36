extension Filter {
    /// Whether changes to rows other than the object's own may change the result. For safety, this is true for
    /// properties of embedded objects.
    public var looksFurther: Bool {
        switch self {
        case .constant: false
        // If this compares a link with nil, the result depends on whether the link's target exists.
        case .compare(_, _, .literal(.null), _): true
        case .compare(let left, _, let right, _), .text(let left, _, let right, _):
            left.looksFurther || right.looksFurther
        case .between(let operand, let low, let high):
            operand.looksFurther || low.looksFurther || high.looksFurther
        case .isIn(let operand, let literals, _): operand.looksFurther || literals.contains(where: \.isNull)
        case .quantified: true
        case .and(let parts), .or(let parts): parts.contains(where: \.looksFurther)
        case .not(let inner): inner.looksFurther
        }
    }

    /// The positions of the classes whose rows decide whether an object satisfies the condition: the object's class,
    /// and the classes reached through links and lists.
    /// - Throws: ``ValueError`` if the condition doesn't fit the class.
    public func classes(lookedAtFrom className: String, in schema: Schema) throws(ValueError) -> Set<Int> {
        guard let item = schema[className] else { throw ValueError("There is no class \(className) in the schema.") }
        var names: Set<String> = [className]
        try collect(&names, [item], schema)
        return Set(names.compactMap { schema.index(of: $0) })
    }

    fileprivate func collect(
        _ names: inout Set<String>, _ scopes: ArraySlice<ClassSchema>, _ schema: Schema
    ) throws(ValueError) {
        switch self {
        case .constant: break
        case .compare(let left, _, let right, _), .text(let left, _, let right, _):
            try left.collect(&names, scopes, schema)
            try right.collect(&names, scopes, schema)
        case .between(let operand, let low, let high):
            for part in [operand, low, high] { try part.collect(&names, scopes, schema) }
        case .isIn(let operand, _, _): try operand.collect(&names, scopes, schema)
        case .quantified(_, let path, let inner):
            let item = try FilterOperand.collect(path, &names, scopes, schema)
            try inner.collect(&names, scopes + [item], schema)
        case .and(let parts), .or(let parts): for part in parts { try part.collect(&names, scopes, schema) }
        case .not(let inner): try inner.collect(&names, scopes, schema)
        }
    }
}

extension FilterOperand {
    fileprivate var looksFurther: Bool {
        switch self {
        case .literal, .element: false
        case .property(let path), .length(let path): path.names.count > 1
        case .count, .aggregate: true
        case .outer(let inner): inner.looksFurther
        }
    }

    fileprivate func collect(
        _ names: inout Set<String>, _ scopes: ArraySlice<ClassSchema>, _ schema: Schema
    ) throws(ValueError) {
        switch self {
        case .literal, .element: break
        case .property(let path), .length(let path): _ = try Self.collect(path, &names, scopes, schema)
        case .outer(let inner): try inner.collect(&names, scopes.dropLast(), schema)
        case .count(let path, let condition):
            let item = try Self.collect(path, &names, scopes, schema)
            try condition.collect(&names, scopes + [item], schema)
        case .aggregate(_, let path, let value):
            let item = try Self.collect(path, &names, scopes, schema)
            try value.collect(&names, scopes + [item], schema)
        }
    }

    /// - Returns: the class at the end of the path.
    fileprivate static func collect(
        _ path: PropertyPath, _ names: inout Set<String>, _ scopes: ArraySlice<ClassSchema>, _ schema: Schema
    ) throws(ValueError) -> ClassSchema {
        guard let item = scopes.last else { throw ValueError("A condition refers to an object outside its query.") }
        let resolved = try schema.resolve(path, from: item)
        for step in resolved.steps {
            switch step {
            case .link(_, to: let target): names.insert(target.name)
            case .list(let elements, to: let target): names.formUnion([elements.name, target?.name ?? elements.name])
            case .origins(let origin, _): names.insert(origin.name)
            case .listOrigins(let origin, elements: let elements): names.formUnion([origin.name, elements.name])
            case .links(let links): names.formUnion(links.map(\.0.name))
            }
        }
        // A link reads as nil if its target doesn't exist.
        if let target = resolved.column?.linkTarget { names.insert(target) }
        return resolved.item
    }
}
