internal import TomboloModel
internal import TomboloServerModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Reads a model from a device's description of its classes when it connects. Such a description has only names and
/// types: these classes have no indexes, no uniqueness rules and no trash until an app's own document takes them
/// over. From then on, devices' descriptions of them change nothing.
struct HelloModel {
    /// The primary key of a class that was added this way.
    static let primaryKey = "_id"
    /// The columns that element classes start or end with: of embedded objects, and of other lists.
    private static let elementColumns: Set<String> = ["_element", "_owner", "_rank", "_parent"]
    private static let plainElementColumns: Set<String> = ["_id", "owner", "rank", "parent"]

    private struct Property {
        let type: PropertyType
        let isOptional: Bool
    }

    /// By class: its properties by name, in order.
    private let classes: [String: [(name: String, property: Property)]]
    /// The document to extend, or nil for a new one.
    private let document: ModelDocument?
    private var embedded: [String: [ModelProperty]] = [:]

    /// The document of ``TomboloServerModel/ServerModel/developmentApp``, extended by what a device has. Nil if there
    /// is nothing to add, or if what the server lacks has to come from an app's own document.
    /// - Throws: ``ModelDocumentError`` for classes that don't form a document, or that need something which an app's
    ///   classes lack. A device that couldn't be served with the document adds nothing.
    static func addition(
        of classes: [HelloClass], to model: ServerModel
    ) throws(ModelDocumentError) -> ModelDocument? {
        let owners = owners(in: model)
        let own = classes.filter { owners[root(of: $0)] == nil }
        guard !own.isEmpty else { return nil }
        try checkParts(own, owners)
        let before = model.models[ServerModel.developmentApp]
        var reader = try HelloModel(own, addingTo: before)
        let roots = own.map(\.name).filter { !$0.contains(".") }
        let after = try reader.document(ServerModel.developmentApp, roots)
            .merged(over: before, retiringMissing: false)
        guard after != before else { return nil }
        var models = model.models
        models[ServerModel.developmentApp] = after
        try checkService(classes, owners, Array(models.values))
        return after
    }

    private static func root(of item: HelloClass) -> String { String(item.name.prefix { $0 != "." }) }

    /// The app that each class belongs to, by every name that a device may have for the class.
    private static func owners(in model: ServerModel) -> [String: String] {
        var current: [String: String] = [:]
        var former: [String: String] = [:]
        for (app, document) in model.models where app != ServerModel.developmentApp {
            for item in document.classes where !item.isEmbedded {
                current[item.name] = app
                for name in item.previousNames { former[name] = app }
            }
        }
        return current.merging(former) { current, _ in current }
    }

    /// Checks what can be checked for each property on its own.
    private static func checkParts(_ classes: [HelloClass], _ owners: [String: String]) throws(ModelDocumentError) {
        var problems: [ModelDocumentError.Problem] = []
        for item in classes {
            let columns = item.columns.map { text in
                let name = text.prefix { $0 != ":" }
                return (name: String(name), type: text.dropFirst(name.count + 2))
            }
            let embedded = Set(columns.filter { $0.type.hasPrefix("embedded<") }.map(\.name))
            for column in columns {
                let message: String
                if let dot = column.name.lastIndex(of: "."), !embedded.contains(String(column.name[..<dot])) {
                    message =
                        "A name with a dot belongs to a property of an embedded object, and the class has no embedded "
                        + "object '\(column.name[..<dot].shown)'."
                } else if case .link(let target)? = type(String(column.type))?.type, let app = owners[target] {
                    message =
                        "It links to \(target), a class of the app '\(app)', and development mode doesn't change an "
                        + "app's classes. Add \(root(of: item)) to that app's document too, and run 'migration-tool "
                        + "apply --models FILE'."
                } else {
                    continue
                }
                problems.append(.init(className: item.name, property: "\(column.name[...].shown)", message: message))
            }
        }
        guard problems.isEmpty else { throw ModelDocumentError(problems: problems) }
    }

    /// Whether a server with these models would serve the device. A device that it would refuse leaves nothing
    /// behind.
    private static func checkService(
        _ classes: [HelloClass], _ owners: [String: String], _ models: [ModelDocument]
    ) throws(ModelDocumentError) {
        let schema: Schema
        do throws(SchemaError) {
            schema = try ModelDocument.schema(of: models.sorted { $0.app < $1.app })
        } catch {
            throw ModelDocumentError(problems: error.problems.map { .init(message: $0) })
        }
        var problems: [ModelDocumentError.Problem] = []
        for name in Set(classes.map(root(of:))).sorted() {
            let parts = classes.filter { root(of: $0) == name }
            guard !ServerSession.serves(parts, with: schema) else { continue }
            let message =
                owners[name].map { app in
                    "The class differs from the document of the app '\(app)', and development mode doesn't change an "
                        + "app's classes. Apply the app's newer document with 'migration-tool apply --models FILE'."
                } ?? "The server can't serve the class as the device describes it."
            problems.append(.init(className: name, message: message))
        }
        guard problems.isEmpty else { throw ModelDocumentError(problems: problems) }
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

    /// A column of an embedded object is optional because the object may be missing, even for an array, which can't
    /// be nil as a property.
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
                    message: "In development mode the primary key must be called '\(Self.primaryKey)'. Rename it, or "
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
    /// - Parameter known: the class in the document that is being extended.
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
            // An embedded object may be missing, so the device's description doesn't say whether a property inside it
            // is required.
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

    /// The type of a list, derived from its element class.
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
        // Devices don't send the name of the embedded class.
        let target = known?.target?.name ?? elements.replacing(".", with: "_")
        addEmbedded(target, properties(of: elements, inside: "", known: document?[target]))
        return .list(.embedded(target), isOptional: false)
    }

    private mutating func addEmbedded(_ name: String, _ properties: [ModelProperty]) {
        let known = embedded[name] ?? []
        embedded[name] = known + properties.filter { new in !known.contains { $0.name == new.name } }
    }
}

extension Substring {
    /// A device's text, shortened for messages.
    fileprivate var shown: String { String(self).shortened(toByteCount: 100) }
}
