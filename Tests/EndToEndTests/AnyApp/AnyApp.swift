import Foundation
import RandomValues
import TomboloModel

/// An app that this repository doesn't contain: random classes, each with the properties that rules look at.
struct AnyApp {
    var document: ModelDocument
    /// Whether everybody reads what is shared, or each user only their own.
    var sharesRows = true

    init(_ app: String, prefix: String, random: SeededGenerator) throws {
        var maker = RandomDocument(random: random, prefix: prefix, isSynchronizable: true)
        let classes = try maker.make(app: app).classes.map { item in
            // Random rows would break unique rules; erasing would be trashing.
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

    /// The rule document: who may read what is shared depends on ``sharesRows``.
    var rules: String {
        let own = #"{ \#(AnyDevice.ownerName): "%%user.id" }"#
        let read = sharesRows ? "{ $or: [\(own), { \(AnyDevice.sharedName): true }] }" : own
        let classes = document.classes.filter { !$0.isEmbedded }.map { item in
            "  \(item.name):\n    - { name: owner, applyWhen: {}, read: \(read), write: \(own) }"
        }
        return "version: 1\nrules:\n" + classes.joined(separator: "\n") + "\n"
    }

    /// What a user may read of every class, written down independently of the rules.
    func readable(by user: String) -> TomboloModel.Predicate {
        let own = TomboloModel.Predicate.compare(PropertyPath(AnyDevice.ownerName), .equal, .string(user))
        guard sharesRows else { return own }
        return .or([own, .compare(PropertyPath(AnyDevice.sharedName), .equal, .bool(true))])
    }

    /// The next version of the app: one property under another name, one gone, one new, and a new class.
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
}
