package import TomboloModel

/// The classes of a file, including those that the app no longer has; or the app's classes as a file would describe
/// them.
package struct StoredSchema: Equatable, Sendable {
    package var classes: [String: StoredClass]

    init(_ classes: [String: StoredClass]) { self.classes = classes }

    init(_ layout: FileLayout) {
        classes = [:]
        for item in layout.schema.classes { classes[item.name] = StoredClass(item) }
    }

    package subscript(name: String) -> StoredClass? { classes[name] }

    /// By name.
    package var sorted: [StoredClass] {
        classes.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The element classes of a class's lists, including nested ones.
    package func elementClasses(of name: String) -> [StoredClass] { sorted.filter { $0.name.hasPrefix("\(name).") } }

    /// The stored type of a class's key. Without a key, it's the integer type of the rowid.
    package func keyType(of name: String) -> PropertyType {
        guard let item = classes[name], let key = item.keyIndex else { return .int(bits: 64) }
        return item.properties[key].type.stored
    }

    /// The stored type of a column's values before encryption.
    package func storedType(of property: StoredClass.Property) -> PropertyType {
        if case .link(let target) = property.type { return keyType(of: target) }
        return property.type.stored
    }

    /// The classes as a model schema, without links and lists that refer to missing classes.
    package func schema() throws -> Schema { try Schema(modelClasses()) }

    func modelClasses() -> [ClassSchema] {
        sorted.filter { !$0.isElement }.map { item in
            ClassSchema(
                name: item.name, table: item.table, columns: columns(item.properties[...]), lists: lists(of: item))
        }
    }

    private func columns(_ properties: ArraySlice<StoredClass.Property>) -> [Column] {
        properties.compactMap { property in
            if case .link(let target) = property.type, classes[target] == nil { return nil }
            return Column(
                name: property.name, sqlName: property.column, type: property.type, isOptional: property.isOptional,
                isPrimaryKey: property.isPrimaryKey,
                isIndexed: property.isIndexed && property.type.className == nil,
                isEncrypted: property.isEncrypted, deleteRule: property.deletesWithTarget ? .cascade : .nullify,
                isRequiredWhenPresent: property.isRequiredWhenPresent)
        }
    }

    /// The lists of a class, or of an element class's embedded objects.
    private func lists(of item: StoredClass) -> [ListProperty] {
        let inner = elementClasses(of: item.name)
        // Lists inside list elements belong to the element class. Embedded objects in between have no lists of their
        // own.
        let own = inner.filter { list in
            !inner.contains { $0.embeddedClass != nil && list.name.hasPrefix("\($0.name).") }
        }
        return own.compactMap { list in
            element(of: list).map {
                ListProperty(
                    name: String(list.name.dropFirst(item.name.count + 1)), element: $0,
                    sqlName: String(list.table.dropFirst(item.table.count + 1)))
            }
        }
    }

    private func element(of list: StoredClass) -> ListProperty.Element? {
        if let name = list.embeddedClass {
            return .embedded(
                ClassSchema(name: name, columns: columns(list.content), lists: lists(of: list), isEmbedded: true))
        }
        guard let content = list.content.first else { return nil }
        if case .link(let target) = content.type { return classes[target] == nil ? nil : .link(to: target) }
        return .scalar(content.type, isOptional: content.isOptional)
    }
}
