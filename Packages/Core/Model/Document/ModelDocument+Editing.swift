/// Edits requested by people. Each function returns a new document, and throws ``ModelDocumentError`` if that document
/// would be invalid.
extension ModelDocument {
    public func adding(_ item: ModelClass) throws(ModelDocumentError) -> ModelDocument {
        if let other = self[item.name], other.isRetired {
            throw ModelDocumentError(
                Wording(
                    "There is a retired class \(item.name): remove its \"retired\" to bring it back, or choose another "
                        + "name."
                ))
        }
        return try ModelDocument(app: app, classes: classes + [item])
    }

    /// - Parameter property: becomes the class's last property.
    public func adding(_ property: ModelProperty, to className: String) throws(ModelDocumentError) -> ModelDocument {
        let found = try found(className)
        if let other = found[property.name], other.isRetired {
            throw ModelDocumentError(
                Wording(
                    "\(className) has a retired property \(property.name): remove its \"retired\" to bring it back, or "
                        + "choose another name."))
        }
        return try replacing(found, ModelClass(found, properties: found.properties + [property]))
    }

    /// Renames a property and adds the old name to its previous names. The column is renamed too, unless it had a
    /// custom name.
    public func renaming(
        _ property: String, of className: String, to name: String
    ) throws(ModelDocumentError) -> ModelDocument {
        let found = try found(property, of: className)
        let item = found.item
        let renamed = ModelProperty(found.property, name: name)
        let unique = item.uniqueProperties.map { $0.map { $0 == property ? name : $0 } }
        return try replacing(
            item,
            ModelClass(
                item, properties: item.properties.map { $0.name == property ? renamed : $0 }, uniqueProperties: unique))
    }

    /// Removes a property and the unique groups that include it. When the document is merged, servers retire the property.
    public func removing(_ property: String, of className: String) throws(ModelDocumentError) -> ModelDocument {
        let item = try found(property, of: className).item
        return try replacing(
            item,
            ModelClass(
                item, properties: item.properties.filter { $0.name != property },
                uniqueProperties: item.uniqueProperties.filter { !$0.contains(property) }))
    }

    /// Removes a class. No other class may link to it. When the document is merged, servers retire the class.
    public func removing(_ className: String) throws(ModelDocumentError) -> ModelDocument {
        let item = try found(className)
        return try ModelDocument(app: app, classes: classes.filter { $0 != item })
    }

    private func found(_ className: String) throws(ModelDocumentError) -> ModelClass {
        if let found = self[className] { return found }
        throw ModelDocumentError(problems: [
            ModelDocumentError.Problem(
                reason: Wording("There is no class '\(ModelName.shown(className))'."),
                hint: className.nearest(in: classes.map(\.name)))
        ])
    }

    private func found(
        _ property: String, of className: String
    ) throws(ModelDocumentError) -> (item: ModelClass, property: ModelProperty) {
        let item = try found(className)
        if let found = item[property] { return (item, found) }
        throw ModelDocumentError(problems: [
            ModelDocumentError.Problem(
                className: className, reason: Wording("There is no property '\(ModelName.shown(property))'."),
                hint: property.nearest(in: item.properties.map(\.name)))
        ])
    }

    private func replacing(_ old: ModelClass, _ new: ModelClass) throws(ModelDocumentError) -> ModelDocument {
        try ModelDocument(app: app, classes: classes.map { $0 == old ? new : $0 })
    }
}

extension ModelClass {
    /// A copy with different properties.
    fileprivate init(_ other: ModelClass, properties: [ModelProperty], uniqueProperties: [[String]]? = nil) {
        self.init(
            name: other.name, table: other.table, properties: properties,
            uniqueProperties: uniqueProperties ?? other.uniqueProperties, isTrashable: other.isTrashable,
            previousNames: other.previousNames, isRetired: other.isRetired)
    }
}

extension ModelProperty {
    /// A copy with a different name.
    fileprivate init(_ other: ModelProperty, name: String) {
        self.init(
            name: name, column: other.column == Column.sqlName(for: other.name) ? nil : other.column, type: other.type,
            isOptional: other.isOptional, isPrimaryKey: other.isPrimaryKey, isIndexed: other.isIndexed,
            isEncrypted: other.isEncrypted, deleteRule: other.deleteRule, allowedValues: other.allowedValues,
            hint: other.hint, isMarkdown: other.isMarkdown, coordinate: other.coordinate,
            previousNames: [other.name] + other.previousNames.filter { $0 != name && $0 != other.name },
            isRetired: other.isRetired)
    }
}
