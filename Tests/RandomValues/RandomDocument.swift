public import TomboloModel

/// Creates valid random documents with every kind of property.
public struct RandomDocument {
    public var random: SeededGenerator
    /// The prefix of class names, so that several documents fit into one database.
    private let prefix: String
    /// Whether every class has a key called `_id` and nothing is encrypted, as synchronisation requires.
    private let isSynchronizable: Bool

    public init(random: SeededGenerator, prefix: String = "", isSynchronizable: Bool = false) {
        self.random = random
        self.prefix = prefix
        self.isSynchronizable = isSynchronizable
    }

    public mutating func make(app: String? = nil) throws -> ModelDocument {
        let tables = (0..<Int.random(in: 1...6, using: &random)).map { "\(prefix)Class\($0)" }
        let embedded = (0..<Int.random(in: 0...4, using: &random)).map { "\(prefix)Part\($0)" }
        var classes: [ModelClass] = []
        for name in tables { classes.append(makeClass(name, links: tables, parts: embedded)) }
        for (index, name) in embedded.enumerated() {
            // Only embed later parts, so that none contains itself.
            classes.append(makePart(name, links: tables, parts: Array(embedded[(index + 1)...])))
        }
        return try ModelDocument(
            app: app ?? "random-\(Int.random(in: 0...9, using: &random))", classes: classes.shuffled(using: &random))
    }

    private mutating func flip() -> Bool { Bool.random(using: &random) }
    /// Whether to add something that a document new to a server can't have.
    private mutating func isOld() -> Bool { !isSynchronizable && rarely() }
    private mutating func rarely() -> Bool { Int.random(in: 0..<5, using: &random) == 0 }

    private mutating func scalar() -> PropertyType {
        let types: [PropertyType] = [
            .bool, .int(bits: 8), .int(bits: 16), .int(bits: 32), .int(bits: 64), .float, .double, .string, .data,
            .date, .objectId, .uuid, .decimal128,
        ]
        return types.randomElement(using: &random) ?? .bool
    }

    private mutating func makeClass(_ name: String, links: [String], parts: [String]) -> ModelClass {
        var properties: [ModelProperty] = []
        if isSynchronizable || !rarely() {
            let keys: [PropertyType] = [.objectId, .uuid, .string, .int(bits: 64), .int(bits: 32)]
            properties.append(
                ModelProperty(name: "_id", type: keys.randomElement(using: &random) ?? .uuid, isPrimaryKey: true))
        }
        for index in 0..<Int.random(in: 0...8, using: &random) {
            properties.append(makeProperty("value\(index)", links: links, parts: parts, isEmbedded: false))
        }
        let columns = properties.filter { if case .list = $0.type { false } else { true } }.map(\.name)
        let unique = rarely() && !columns.isEmpty ? [Array(columns.shuffled(using: &random).prefix(2))] : []
        return ModelClass(
            name: name, table: flip() ? Column.sqlName(for: name) : "table of \(name)", properties: properties,
            uniqueProperties: unique, isTrashable: flip(),
            previousNames: isOld() ? ["Old\(name)", "Older\(name)"] : [],
            isRetired: isOld())
    }

    private mutating func makePart(_ name: String, links: [String], parts: [String]) -> ModelClass {
        let properties = (0..<Int.random(in: 1...4, using: &random)).map { index in
            makeProperty("part\(index)", links: links, parts: parts, isEmbedded: true)
        }
        return ModelClass(name: name, table: nil, properties: properties, isRetired: isOld())
    }

    private mutating func makeProperty(
        _ name: String, links: [String], parts: [String], isEmbedded: Bool
    ) -> ModelProperty {
        let column = rarely() ? "c_\(name)" : nil
        let previous = isOld() ? ["old\(name)"] : []
        let isRetired = isOld()
        func list(_ element: PropertyType, isOptional: Bool = false) -> ModelProperty {
            ModelProperty(
                name: name, column: column, type: .list(element, isOptional: isOptional), previousNames: previous,
                isRetired: isRetired)
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            return ModelProperty(
                name: name, column: column, type: .link(to: links.randomElement(using: &random) ?? ""),
                isOptional: true, isIndexed: flip(), deleteRule: rarely() ? .cascade : .nullify,
                previousNames: previous, isRetired: isRetired)
        case 1: return list(.link(to: links.randomElement(using: &random) ?? ""))
        case 2 where !parts.isEmpty:
            return ModelProperty(
                name: name, column: column, type: .embedded(parts.randomElement(using: &random) ?? ""),
                isOptional: true, previousNames: previous, isRetired: isRetired)
        case 3 where !parts.isEmpty: return list(.embedded(parts.randomElement(using: &random) ?? ""))
        case 4 where !isEmbedded: return list(scalar(), isOptional: flip())
        case 4:
            let types = (0..<Int.random(in: 0...3, using: &random)).map { _ in scalar() }
            return ModelProperty(
                name: name, column: column, type: .array(types), previousNames: previous, isRetired: isRetired)
        default:
            let type = scalar()
            let isText = type == .string || type == .data
            let isEncrypted = isText && isOld()
            return ModelProperty(
                name: name, column: column, type: type, isOptional: flip(), isIndexed: !isEncrypted && rarely(),
                isEncrypted: isEncrypted, isMarkdown: type == .string && flip(), previousNames: previous,
                isRetired: isRetired)
        }
    }
}
