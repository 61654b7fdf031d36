internal import TomboloModel
internal import TomboloServerModel
internal import TomboloSyncProtocol

/// Reads a model out of what a device says of its classes when it connects. Names and types are all that there is: such
/// classes have no indexes, no unique rules and no trash until an app's own document takes them over.
struct HelloModel {
    /// The primary key of a class that comes in this way.
    static let primaryKey = "_id"
    /// The columns that element classes begin or end with, of embedded objects and of others.
    private static let elementColumns: Set<String> = ["_element", "_owner", "_rank", "_parent"]
    private static let plainElementColumns: Set<String> = ["_id", "owner", "rank", "parent"]

    private struct Property {
        let type: PropertyType
        let isOptional: Bool
    }

    /// By class: the properties by name, in order.
    private let classes: [String: [(name: String, property: Property)]]
    /// The document that is added to; nil for a new one.
    private let document: ModelDocument?
    private var embedded: [String: [ModelProperty]] = [:]

    /// The documents that have everything that a device has; those that have it already are left out.
    /// - Throws: ``ModelDocumentError`` for classes that don't form a document.
    static func additions(
        of classes: [HelloClass], to model: ServerModel
    ) throws(ModelDocumentError) -> [ModelDocument] {
        let roots = classes.map(\.name).filter { !$0.contains(".") }
        let owners = Dictionary(
            model.models.sorted { $0.key < $1.key }.flatMap { app, document in
                document.classes.filter { !$0.isEmbedded }.map { ($0.name, app) }
            }, uniquingKeysWith: { first, second in first == ServerModel.developmentApp ? second : first })
        let known = Set(roots.compactMap { owners[$0] })
        // A class that links to an app's classes belongs to that app.
        let home = known.count == 1 ? known.first : nil
        var documents: [ModelDocument] = []
        for app in known.union([home ?? ServerModel.developmentApp]).sorted() {
            let own = roots.filter { (owners[$0] ?? home ?? ServerModel.developmentApp) == app }
            guard !own.isEmpty else { continue }
            let before = model.models[app]
            var reader = try HelloModel(classes, addingTo: before)
            let after = try reader.document(app, own).merged(over: before, retiringMissing: false)
            if after != before { documents.append(after) }
        }
        return documents
    }

    private init(_ classes: [HelloClass], addingTo document: ModelDocument?) throws(ModelDocumentError) {
        self.document = document
        var read: [String: [(name: String, property: Property)]] = [:]
        for item in classes {
            var properties: [(name: String, property: Property)] = []
            for text in item.columns {
                guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix(": "),
                    let parsed = Self.type(String(text[colon...].dropFirst(2)))
                else {
                    let problem = ModelDocumentError.Problem(
                        className: item.name,
                        message:
                            "'\(text.shortened(toByteCount: 100))' doesn't describe a property: expected 'name: type'.")
                    throw ModelDocumentError(problems: [problem])
                }
                let property = Property(type: parsed.type, isOptional: parsed.isOptional)
                properties.append((String(text[..<colon]), property))
            }
            read[item.name] = properties
        }
        self.classes = read
    }

    /// A column of an embedded object takes nil, where the object is missing, although a property that holds an array
    /// does not.
    private static func type(_ text: String) -> (type: PropertyType, isOptional: Bool)? {
        if let parsed = PropertyType.parse(text) { return parsed }
        guard text.hasSuffix("?"), let parsed = PropertyType.parse(String(text.dropLast())),
            case .array = parsed.type
        else { return nil }
        return parsed
    }

    private mutating func document(_ app: String, _ roots: [String]) throws(ModelDocumentError) -> ModelDocument {
        var result: [ModelClass] = []
        for name in roots {
            let known = document?[name]
            let key = known?.properties.first(where: \.isPrimaryKey)?.name ?? Self.primaryKey
            guard classes[name]?.contains(where: { $0.name == key }) == true else {
                let problem = ModelDocumentError.Problem(
                    className: name,
                    message: "In development mode the primary key is called '\(Self.primaryKey)'. Call it so, or "
                        + "apply the app's model document with 'migration-tool apply --models FILE'.")
                throw ModelDocumentError(problems: [problem])
            }
            result.append(
                ModelClass(
                    name: name, table: known?.table ?? Column.sqlName(for: name),
                    properties: properties(of: name, inside: "", key: key, known: known)))
        }
        for (name, found) in embedded { result.append(ModelClass(name: name, table: nil, properties: found)) }
        return try ModelDocument(app: app, classes: result)
    }

    /// The properties of a class, or of the embedded object at a path inside it.
    /// - Parameter known: the class in the document that is added to.
    private mutating func properties(
        of className: String, inside path: String, key: String? = nil, known: ModelClass?
    ) -> [ModelProperty] {
        let prefix = path.isEmpty ? "" : path + "."
        let columns = classes[className] ?? []
        let isElement = className.contains(".")
        let skipped = isElement && path.isEmpty ? Self.elementColumns : []
        var result: [ModelProperty] = []
        for (name, property) in columns where name.hasPrefix(prefix) {
            let own = String(name.dropFirst(prefix.count))
            guard !own.contains("."), !skipped.contains(own) else { continue }
            // An embedded object may be missing: whether a property is required inside it isn't said.
            result.append(
                ModelProperty(
                    name: own, column: known?[own]?.column, type: property.type, isOptional: property.isOptional,
                    isPrimaryKey: own == key))
            if case .embedded(let target) = property.type {
                addEmbedded(target, properties(of: className, inside: prefix + own, known: document?[target]))
            }
        }
        let lists = "\(className).\(prefix)"
        for name in classes.keys.sorted() where name.hasPrefix(lists) {
            let own = String(name.dropFirst(lists.count))
            guard !own.contains("."), !columns.contains(where: { $0.name == prefix + own }) else { continue }
            result.append(ModelProperty(name: own, type: list(name, own, of: className, known: known?[own])))
        }
        return result
    }

    /// The type of a list, by its element class.
    private mutating func list(
        _ elements: String, _ name: String, of className: String, known: ModelProperty?
    ) -> PropertyType {
        let columns = classes[elements] ?? []
        if let target = columns.first(where: { $0.name == "target" }), case .link(let other) = target.property.type,
            columns.allSatisfy({ $0.name == "target" || Self.plainElementColumns.contains($0.name) })
        {
            return .list(.link(to: other), isOptional: false)
        }
        if let value = columns.first(where: { $0.name == "value" }),
            columns.allSatisfy({ $0.name == "value" || Self.plainElementColumns.contains($0.name) })
        {
            return .list(value.property.type, isOptional: value.property.isOptional)
        }
        // Devices don't say what the embedded class is called.
        let target = known?.target?.name ?? elements.replacing(".", with: "_")
        addEmbedded(target, properties(of: elements, inside: "", known: document?[target]))
        return .list(.embedded(target), isOptional: false)
    }

    private mutating func addEmbedded(_ name: String, _ properties: [ModelProperty]) {
        let known = embedded[name] ?? []
        embedded[name] = known + properties.filter { new in !known.contains { $0.name == new.name } }
    }
}
