internal import TomboloModel

/// The classes of a schema with the numbers that the database gave them.
struct StoreLayout: Sendable {
    let schema: Schema
    /// By class index; nil for a class without a primary key, which is not synced.
    let classes: [ClassLayout?]
    let classIndexByID: [Int16: Int]

    /// - Throws: ``PostgresStoreError`` naming classes that the database lacks.
    init(schema: Schema, identifiers: SchemaIdentifiers) throws {
        self.schema = schema
        var classes: [ClassLayout?] = []
        var missing: [String] = []
        for (index, item) in schema.classes.enumerated() {
            let layout = ClassLayout(item, classIndex: index, schema: schema, identifiers: identifiers)
            if layout == nil, item.primaryKeyIndex != nil { missing.append(item.name) }
            classes.append(layout)
        }
        guard missing.isEmpty else {
            throw PostgresStoreError(
                .schema,
                "The database does not know \(missing.joined(separator: ", ")) or some of their properties. "
                    + "Run the migration tool.")
        }
        self.classes = classes
        classIndexByID = Dictionary(
            classes.compactMap { $0.map { ($0.id, $0.classIndex) } }, uniquingKeysWith: { first, _ in first })
    }

    func layout(_ classIndex: Int) throws -> ClassLayout {
        guard classes.indices.contains(classIndex), let layout = classes[classIndex] else {
            throw PostgresStoreError(.misuse, "There is no synced class at position \(classIndex).")
        }
        return layout
    }

    /// The key that a changelog row names.
    func key(_ text: String, of layout: ClassLayout) throws -> Value {
        guard let key = KeyText.value(text, layout.keyType) else {
            throw PostgresStoreError(.corrupt, "The changelog holds a key of \(layout.item.name) that is none.")
        }
        return key
    }
}
