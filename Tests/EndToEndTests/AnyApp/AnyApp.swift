import Foundation
import RandomValues
import TomboloModel

/// An app that this repository doesn't contain: random classes, each with the properties that the rules use.
struct AnyApp {
    var document: ModelDocument
    /// Whether everybody may read shared objects, or each user only their own.
    var sharesRows = true
    /// Classes whose rules use ``levelName``.
    var levelled: Set<String> = []
    /// A property that is added later and then used by the rules of some classes.
    static let levelName = "level"

    init(_ app: String, prefix: String, random: SeededGenerator) throws {
        var maker = RandomDocument(random: random, prefix: prefix, isSynchronizable: true)
        let classes = try maker.make(app: app).classes.map { item in
            // No unique rules, which random rows would break, and no trash, where erasing would only move rows to it.
            ModelClass(
                name: item.name, table: item.table,
                properties: item.properties
                    + (item.isEmbedded
                        ? []
                        : [
                            ModelProperty(name: AnyDevice.ownerName, type: .string),
                            ModelProperty(name: AnyDevice.sharedName, type: .bool),
                        ]))
        }
        document = try ModelDocument(app: app, classes: classes)
    }

    /// The rule document. ``sharesRows`` decides who may read shared objects.
    var rules: String { rules(of: document) }

    func rules(of document: ModelDocument) -> String {
        let own = #"{ \#(AnyDevice.ownerName): "%%user.id" }"#
        let shared = sharesRows ? "{ $or: [\(own), { \(AnyDevice.sharedName): true }] }" : own
        let classes = document.classes.filter { !$0.isEmbedded }.map { item in
            // A value that no random row has, so the condition always holds.
            let level = #"{ \#(Self.levelName): { $ne: -123456789 } }"#
            let read = levelled.contains(item.name) ? "{ $and: [\(shared), \(level)] }" : shared
            let write = levelled.contains(item.name) ? "{ $and: [\(own), \(level)] }" : own
            return "  \(item.name):\n    - { name: owner, applyWhen: {}, read: \(read), write: \(write) }"
        }
        return "version: 1\nrules:\n" + classes.joined(separator: "\n") + "\n"
    }

    /// What a user may read of every class, stated independently of the rules.
    func readable(by user: String) -> TomboloModel.Predicate {
        let own = TomboloModel.Predicate.compare(PropertyPath(AnyDevice.ownerName), .equal, .string(user))
        guard sharesRows else { return own }
        return .or([own, .compare(PropertyPath(AnyDevice.sharedName), .equal, .bool(true))])
    }

    /// The same app with a new name for every class, embedded ones too, and for every property that no rule uses.
    func renamed() throws -> ModelDocument {
        func new(_ name: String) -> String { "\(name)Now" }
        func renamedType(_ type: PropertyType) -> PropertyType {
            switch type {
            case .link(let target): .link(to: new(target))
            case .embedded(let target): .embedded(new(target))
            case .list(let element, let isOptional): .list(renamedType(element), isOptional: isOptional)
            case .linkingObjects(let origin): .linkingObjects(new(origin))
            default: type
            }
        }
        func property(_ property: ModelProperty) -> ModelProperty {
            let isKept =
                property.isPrimaryKey || property.name == AnyDevice.ownerName || property.name == AnyDevice.sharedName
            return ModelProperty(
                name: isKept ? property.name : new(property.name), type: renamedType(property.type),
                isOptional: property.isOptional, isPrimaryKey: property.isPrimaryKey, isIndexed: property.isIndexed,
                deleteRule: property.deleteRule, previousNames: isKept ? [] : [property.name])
        }
        return try ModelDocument(
            app: document.app,
            classes: document.classes.map { item in
                ModelClass(
                    name: new(item.name), table: item.isEmbedded ? nil : Column.sqlName(for: new(item.name)),
                    properties: item.properties.map(property), previousNames: [item.name])
            })
    }

    /// The next version of the app: one property renamed, one removed, one added, and a new class.
    func evolved() throws -> ModelDocument {
        var classes = document.classes
        guard let index = classes.firstIndex(where: { !$0.isEmbedded }) else { return document }
        let item = classes[index]
        func isPlain(_ property: ModelProperty) -> Bool {
            switch property.type {
            case .list, .embedded, .link, .array: false
            default:
                !property.isPrimaryKey && property.name != AnyDevice.ownerName && property.name != AnyDevice.sharedName
            }
        }
        let plain = item.properties.filter(isPlain).map(\.name)
        let properties = item.properties.compactMap { property -> ModelProperty? in
            if plain.count > 1, property.name == plain[1] { return nil }
            guard property.name == plain.first else { return property }
            return ModelProperty(
                name: "renamed", type: property.type, isOptional: property.isOptional,
                isIndexed: property.isIndexed, previousNames: [property.name])
        }
        classes[index] = ModelClass(
            name: item.name, table: item.table,
            properties: properties + [ModelProperty(name: "added", type: .string, isOptional: true)])
        classes.append(
            ModelClass(
                name: "\(item.name)Next", table: "\(item.table ?? "")_next",
                properties: [
                    ModelProperty(name: "_id", type: .uuid, isPrimaryKey: true),
                    ModelProperty(name: AnyDevice.ownerName, type: .string),
                    ModelProperty(name: AnyDevice.sharedName, type: .bool),
                    ModelProperty(name: "origin", type: .link(to: item.name), isOptional: true),
                ]))
        return try ModelDocument(app: document.app, classes: classes)
    }

    /// The next version of the app: a class renamed, with one property renamed, a table and a column name of its own,
    /// and a new property that its rules use.
    /// - Parameter number: tells several such versions apart.
    func renamed(_ number: Int) throws -> AnyApp {
        guard let item = document.classes.first(where: { !$0.isEmbedded }) else { return self }
        let name = "\(document.app.prefix(1).uppercased())Renamed\(number)"
        func renamed(_ type: PropertyType) -> PropertyType {
            switch type {
            case .link(to: item.name): .link(to: name)
            case .list(let element, let isOptional): .list(renamed(element), isOptional: isOptional)
            default: type
            }
        }
        let classes = document.classes.map { other in
            let isRenamed = other.name == item.name
            var properties = other.properties.map { property in
                let isOwner =
                    property.isPrimaryKey || [AnyDevice.ownerName, AnyDevice.sharedName].contains(property.name)
                let changes = isRenamed && !isOwner && property.name != Self.levelName
                return ModelProperty(
                    name: changes ? "was\(number)_\(property.name)" : property.name,
                    column: changes ? "c\(number)_\(property.column)" : property.column, type: renamed(property.type),
                    isOptional: property.isOptional, isPrimaryKey: property.isPrimaryKey, isIndexed: property.isIndexed,
                    deleteRule: property.deleteRule, previousNames: changes ? [property.name] : [])
            }
            if isRenamed, other[Self.levelName] == nil {
                properties.append(ModelProperty(name: Self.levelName, type: .int(bits: 64), isIndexed: true))
            }
            return ModelClass(
                name: isRenamed ? name : other.name, table: isRenamed ? "t\(number)_\(document.app)" : other.table,
                properties: properties, uniqueProperties: other.uniqueProperties, isTrashable: other.isTrashable,
                previousNames: isRenamed ? [other.name] : [])
        }
        var next = self
        next.document = try ModelDocument(app: document.app, classes: classes)
        next.levelled = [name]
        return next
    }
}
