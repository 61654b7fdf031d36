/// Builds a ``Schema`` from a document's classes, as ``ObjectClass`` does from Swift classes.
struct ModelSchemaBuilder {
    private let classes: [ModelClass]
    private var embedded: [String: ClassSchema] = [:]
    private let byName: [String: ModelClass]

    /// - Parameter classes: already checked: no embedded class contains itself, and every referenced class exists.
    init(_ classes: [ModelClass]) {
        self.classes = classes
        byName = Dictionary(classes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func schema() throws(SchemaError) -> Schema { try Schema(modelClasses()) }

    /// The classes that have a table.
    func modelClasses() -> [ClassSchema] {
        var builder = self
        var result: [ClassSchema] = []
        for item in classes where !item.isEmbedded { result.append(builder.build(item)) }
        return result
    }

    private mutating func embeddedClass(_ name: String) -> ClassSchema? {
        if let known = embedded[name] { return known }
        guard let item = byName[name] else { return nil }
        let built = build(item)
        embedded[name] = built
        return built
    }

    private mutating func build(_ item: ModelClass) -> ClassSchema {
        var columns: [Column] = []
        var lists: [ListProperty] = []
        for property in item.properties {
            switch property.type {
            case .list(let element, let isOptional):
                let kind: ListProperty.Element
                switch element {
                case .link(let target): kind = .link(to: target)
                case .embedded(let name):
                    guard let target = embeddedClass(name) else { continue }
                    kind = .embedded(target)
                default: kind = .scalar(element, isOptional: isOptional)
                }
                lists.append(
                    ListProperty(
                        name: property.name, element: kind, sqlName: property.column,
                        allowedValues: property.allowedValues, hint: property.hint,
                        previousNames: property.previousNames, isRetired: property.isRetired))
            case .embedded(let name):
                let presence = Column(
                    name: property.name, sqlName: property.column, type: property.type, isOptional: true,
                    hint: property.hint, previousNames: property.previousNames, isRetired: property.isRetired)
                columns.append(presence)
                guard let target = embeddedClass(name) else { continue }
                columns += target.columns.map { $0.embedded(in: presence) }
                lists += target.lists.map { $0.embedded(in: presence) }
            default:
                columns.append(
                    Column(
                        name: property.name, sqlName: property.column, type: property.type,
                        isOptional: property.isOptional, isPrimaryKey: property.isPrimaryKey,
                        isIndexed: property.isIndexed, isEncrypted: property.isEncrypted,
                        deleteRule: property.deleteRule, allowedValues: property.allowedValues, hint: property.hint,
                        isMarkdown: property.isMarkdown, coordinate: property.coordinate,
                        previousNames: property.previousNames, isRetired: property.isRetired))
            }
        }
        return ClassSchema(
            name: item.name, table: item.table, columns: columns, lists: lists,
            uniqueProperties: item.uniqueProperties, isTrashable: item.isTrashable, isEmbedded: item.isEmbedded,
            propertyNames: item.properties.map(\.name), previousNames: item.previousNames,
            isRetired: item.isRetired)
    }
}
