internal import TomboloModel

/// The differences between a file's classes and the app's, in Realm's words. Indexes don't count, nor do classes that
/// only one side has.
struct SchemaDifferences {
    /// For example `Property 'Talk.title' has been added.`
    private(set) var sentences: [String] = []

    var isEmpty: Bool { sentences.isEmpty }

    /// A class as its author sees it, with embedded objects and lists as properties.
    private struct ModelClass {
        struct Property {
            var name: String
            var type: String
            var isOptional: Bool
        }

        var isEmbedded: Bool
        var properties: [Property] = []
        var key: String?

        subscript(name: String) -> Property? { properties.first { $0.name == name } }
    }

    init(from old: StoredSchema, to new: StoredSchema) {
        // Only compare classes that the app still has; removed classes may contain outdated embedded objects.
        let before = Self.modelClasses(old) { new[$0] != nil }
        for (name, after) in Self.modelClasses(new, { _ in true }).sorted(by: { $0.key < $1.key }) {
            guard let before = before[name] else { continue }
            compare(before, after, name)
        }
    }

    private mutating func compare(_ old: ModelClass, _ new: ModelClass, _ name: String) {
        func kind(_ item: ModelClass) -> String { item.isEmbedded ? "embedded" : "top-level" }
        if old.isEmbedded != new.isEmbedded {
            sentences.append("Class '\(name)' has been changed from \(kind(old)) to \(kind(new)).")
        }
        for property in old.properties {
            let place = "Property '\(name).\(property.name)' has been"
            guard let after = new[property.name] else {
                sentences.append("\(place) removed.")
                continue
            }
            if property.type != after.type {
                sentences.append("\(place) changed from '\(property.type)' to '\(after.type)'.")
            } else if property.isOptional != after.isOptional {
                sentences.append("\(place) made \(after.isOptional ? "optional" : "required").")
            }
        }
        for property in new.properties where old[property.name] == nil {
            sentences.append("Property '\(name).\(property.name)' has been added.")
        }
        switch (old.key, new.key) {
        case (let before?, let after?) where before != after:
            sentences.append("Primary Key for class '\(name)' has changed from '\(before)' to '\(after)'.")
        case (nil, _?): sentences.append("Primary Key for class '\(name)' has been added.")
        case (_?, nil): sentences.append("Primary Key for class '\(name)' has been removed.")
        default: break
        }
    }

    /// The changes that would require converting values, which a synced file can't do.
    static func conversions(_ changes: [ClassChange]) -> [String] {
        changes.flatMap { change in
            let (old, new) = (change.old, change.new)
            var sentences: [String] = []
            if old.table != new.table {
                sentences.append(
                    "Class '\(new.name)' has the table '\(old.table)' in the file and '\(new.table)' in the app.")
            }
            for property in new.properties {
                let place = "Property '\(new.name).\(property.name)' has been"
                guard let before = old.index(of: property.name).map({ old.properties[$0] }) else { continue }
                if before.type != property.type || before.column != property.column {
                    sentences.append("\(place) changed from '\(before.type.name)' to '\(property.type.name)'.")
                } else if before.isOptional != property.isOptional {
                    sentences.append("\(place) made \(property.isOptional ? "optional" : "required").")
                }
            }
            if change.isKeyChanged { sentences.append("Primary Key for class '\(new.name)' has been changed.") }
            return sentences
        }
    }

    // MARK: Columns and element classes as properties

    private static func modelClasses(
        _ schema: StoredSchema, _ isCurrent: (String) -> Bool
    ) -> [String: ModelClass] {
        var classes: [String: ModelClass] = [:]
        for item in schema.sorted where !item.isElement {
            var result = ModelClass(isEmbedded: false, key: item.keyIndex.map { item.properties[$0].name })
            if isCurrent(item.name) {
                collect(item.properties[...], prefix: "", lists: "\(item.name).", schema, &result, &classes)
            }
            classes[item.name] = result
        }
        return classes
    }

    /// - Parameters:
    ///   - prefix: the prefix of the class's column names, `address.`.
    ///   - lists: the prefix of its lists' element class names, `Person.address.`.
    private static func collect(
        _ columns: ArraySlice<StoredClass.Property>, prefix: String, lists: String, _ schema: StoredSchema,
        _ result: inout ModelClass, _ classes: inout [String: ModelClass]
    ) {
        for column in columns where column.name.hasPrefix(prefix) {
            let name = String(column.name.dropFirst(prefix.count))
            guard !name.contains(".") else { continue }
            result.properties.append(
                .init(
                    name: name, type: text(column),
                    isOptional: column.isOptional && !column.isRequiredWhenPresent))
            if case .embedded(let className) = column.type {
                embedded(
                    className, columns, prefix: "\(column.name).", lists: "\(lists)\(name).", schema, &classes)
            }
        }
        for list in schema.sorted where list.name.hasPrefix(lists) {
            let name = String(list.name.dropFirst(lists.count))
            guard !name.contains("."), let content = list.content.first ?? list.properties.last else { continue }
            let element = list.embeddedClass ?? text(content).trimmed + (content.isOptional ? "?" : "")
            result.properties.append(.init(name: name, type: "array<\(element)>", isOptional: false))
            if let className = list.embeddedClass {
                embedded(className, list.content, prefix: "", lists: "\(list.name).", schema, &classes)
            }
        }
    }

    private static func embedded(
        _ name: String, _ columns: ArraySlice<StoredClass.Property>, prefix: String, lists: String,
        _ schema: StoredSchema, _ classes: inout [String: ModelClass]
    ) {
        // A class embedded in several classes has the same properties in each.
        guard classes[name] == nil else { return }
        var result = ModelClass(isEmbedded: true)
        classes[name] = result
        collect(columns, prefix: prefix, lists: lists, schema, &result, &classes)
        classes[name] = result
    }

    /// Realm's name of a type.
    private static func text(_ property: StoredClass.Property) -> String {
        let name =
            switch property.type {
            case .int: "int"
            case .objectId: "object id"
            case .link(let target), .embedded(let target): "<\(target)>"
            default: property.type.name
            }
        return property.isEncrypted ? "encrypted \(name)" : name
    }
}

extension String {
    /// The string without enclosing angle brackets.
    fileprivate var trimmed: String { hasPrefix("<") && hasSuffix(">") ? String(dropFirst().dropLast()) : self }
}
