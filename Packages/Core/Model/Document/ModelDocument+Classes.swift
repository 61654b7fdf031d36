extension ModelDocument {
    /// Makes the document of model classes and of every class that they lead to through links, lists and embedded objects.
    ///
    /// It leaves out what exists only in Swift: default values, methods, `LinkingObjects` (which devices compute), and types
    /// that are stored as another type. For those, the document has the stored type and, for an enumeration, its values.
    /// - Throws: ``SchemaError`` listing every problem, such as an invalid app name.
    public init(app: String, objectTypes: [Object.Type]) throws(SchemaError) {
        _ = try Schema.of(objectTypes)
        var problems: [String] = []
        var classes: [String: ModelClass] = [:]
        var seen: Set<ObjectIdentifier> = []
        var waiting: [ObjectBase.Type] = objectTypes
        while let type = waiting.popLast() {
            guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
            let layout = ObjectClass.of(type)
            let item = ModelClass(layout)
            // Tables contain only the properties of embedded classes, so ``Schema`` accepts two embedded classes with
            // the same name.
            if let other = classes.updateValue(item, forKey: item.name), other != item {
                problems.append("Two classes are named \(item.name); rename one.")
            }
            waiting += layout.targets + layout.properties.compactMap { $0.valueType._targetClass }
        }
        guard problems.isEmpty else { throw SchemaError(problems: problems.sorted()) }
        do {
            try self.init(app: app, classes: Array(classes.values))
        } catch {
            throw SchemaError(problems: error.problems.map(\.description))
        }
    }
}

extension ModelClass {
    fileprivate init(_ layout: ObjectClass) {
        let schema = layout.schema
        self.init(
            name: schema.name, table: schema.isEmbedded ? nil : schema.table,
            properties: layout.properties.compactMap { ModelProperty($0, of: schema) },
            uniqueProperties: schema.uniqueColumns.map { $0.map { schema.columns[$0].name } },
            isTrashable: schema.isTrashable, previousNames: schema.previousNames)
    }
}

extension ModelProperty {
    /// Returns nil for LinkingObjects.
    fileprivate init?(_ property: ObjectProperty, of schema: ClassSchema) {
        switch property.slot {
        case .linkingObjects: return nil
        case .list(let position):
            let list = schema.lists[position]
            let type: PropertyType =
                switch list.element {
                case .link(let target): .list(.link(to: target), isOptional: false)
                case .scalar(let type, let isOptional): .list(type, isOptional: isOptional)
                case .embedded(let element): .list(.embedded(element.name), isOptional: false)
                }
            self.init(
                name: list.name, column: list.sqlName, type: type, allowedValues: list.allowedValues, hint: list.hint,
                previousNames: list.previousNames)
        case .column(let position), .embedded(let position), .array(let position):
            let column = schema.columns[position]
            self.init(
                name: column.name, column: column.sqlName, type: column.type, isOptional: column.isOptional,
                isPrimaryKey: column.isPrimaryKey, isIndexed: column.isIndexed, isEncrypted: column.isEncrypted,
                deleteRule: column.deleteRule, allowedValues: column.allowedValues, hint: column.hint,
                isMarkdown: column.isMarkdown, coordinate: column.coordinate,
                previousNames: column.previousNames)
        }
    }
}
