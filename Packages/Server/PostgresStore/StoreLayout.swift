internal import PostgresClient
internal import TomboloChangesets
internal import TomboloModel

/// The classes of a schema, with the numbers that the database assigned to them and their current SQL names.
struct StoreLayout: Sendable {
    /// With the database's names for tables and columns.
    let schema: Schema
    let constraints: ConstraintNames
    /// By class index; nil for a class without a primary key, which isn't synchronised.
    let classes: [ClassLayout?]
    let classIndexByID: [Int16: Int]
    /// Knows only the schema. Each transaction arbitrates with a copy.
    let arbiter: Arbiter
    /// The digest from when the names were read, or earlier.
    let digest: String

    /// - Throws: ``PostgresStoreError`` with the names of the classes that the database lacks.
    init(schema: Schema, identifiers: SchemaIdentifiers, digest: String) throws {
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
                "The database doesn't know \(missing.joined(separator: ", ")) or some of their properties. "
                    + "Run the migration tool.")
        }
        self.init(schema, classes, digest)
    }

    private init(_ schema: Schema, _ classes: [ClassLayout?], _ digest: String) {
        self.schema = schema
        self.digest = digest
        self.classes = classes
        constraints = ConstraintNames(schema: schema)
        arbiter = Arbiter(schema: schema)
        classIndexByID = Dictionary(
            classes.compactMap { $0.map { ($0.id, $0.classIndex) } }, uniquingKeysWith: { first, _ in first })
    }

    /// The same classes, found by their numbers, with the SQL names that the database has for them now.
    func following(_ identifiers: SchemaIdentifiers, digest: String) -> StoreLayout {
        let named = Dictionary(identifiers.classes.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let renamed = schema.renamedInSQL { index in
            let item = schema[index]
            guard let layout = classes[index], let name = named[layout.id] else {
                return (item.table, item.columns.map(\.sqlName))
            }
            let properties = Dictionary(
                (identifiers.columns[name] ?? [:]).map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
            let columns = zip(item.columns, layout.columnIDs).map { column, id in
                properties[id].flatMap { identifiers.sqlNames[name]?[$0] } ?? column.sqlName
            }
            return (identifiers.tables[name] ?? item.table, columns)
        }
        guard renamed != schema else { return StoreLayout(schema, classes, digest) }
        return StoreLayout(
            renamed,
            classes.map { layout in
                layout.flatMap {
                    ClassLayout(
                        renamed[$0.classIndex], classIndex: $0.classIndex, schema: renamed, id: $0.id,
                        columnIDs: $0.columnIDs)
                }
            }, digest)
    }

    func layout(_ classIndex: Int) throws -> ClassLayout {
        guard classes.indices.contains(classIndex), let layout = classes[classIndex] else {
            throw PostgresStoreError(.misuse, "There's no synced class at position \(classIndex).")
        }
        return layout
    }

    /// The key that a changelog row names.
    func key(_ text: String, of layout: ClassLayout) throws -> Value {
        guard let key = KeyText.value(text, layout.keyType) else {
            throw PostgresStoreError(.corrupt, "The changelog has an invalid key for \(layout.item.name).")
        }
        return key
    }

    /// The same, but without creating a string for the most common keys.
    func key(_ cell: PostgresCell, of layout: ClassLayout) throws -> Value {
        if layout.hasObjectIds, let id = cell.withUnsafeBytes({ KeyText.objectId($0) }) { return .objectId(id) }
        return try key(try cell.string, of: layout)
    }
}
