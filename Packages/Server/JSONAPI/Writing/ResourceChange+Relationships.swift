package import TomboloHTTP
import TomboloModel

extension ResourceChange {
    /// What happens to a relationship's links.
    package enum LinkAction: Sendable {
        case replace
        /// Only for to-many relationships, like the next one.
        case add
        case remove
    }

    /// Reads a relationship object: `{"data": …}`.
    package mutating func readRelationship(
        _ name: String, _ json: JSON, _ action: LinkAction = .replace, at pointer: RequestPointer
    ) {
        guard let field = fields.first(where: { $0.name == name && $0.isRelationship }),
            let target = field.target.flatMap({ view.types[$0] })
        else {
            guard !hasAllProblems else { return }
            let known = fields.filter(\.isRelationship).map(\.name)
            return refuse(
                pointer, Wording("\(type.name) have no relationship '\(name.shortened(toByteCount: 60))'."),
                ResourceQuery.nearest(name, known))
        }
        guard let data = json["data"] else {
            return refuse(
                pointer, "The relationship '\(field.name)' has no 'data'.",
                "Send {\"data\": …}: \(Self.example(field, target)).")
        }
        let place = pointer / "data"
        switch (field.content, data) {
        case (.toOne, _) where action != .replace:
            refuse(
                pointer, "'\(field.name)' links to one resource: nothing can be added to it or removed from it.",
                "Replace it, with PATCH or the operation 'update'.", .methodNotAllowed)
        case (.toOne(let column, _), .null): link(column, .null, at: place)
        case (.toOne(let column, _), .object):
            if let key = key(data, target, leadsTo: true, at: place) { link(column, key, at: place) }
        case (.toMany(let elements, _), .array(let items)) where items.count <= ResourcePlan.maximumElementCount:
            var keys: [Value] = []
            listPointers[elements] = place
            for (index, item) in items.enumerated() {
                if let key = key(item, target, leadsTo: action != .remove, at: place / "\(index)") { keys.append(key) }
            }
            switch action {
            case .replace: contents.lists[elements] = keys
            case .add: listEdits[elements] = .add(keys)
            case .remove: listEdits[elements] = .remove(keys)
            }
        case (.toMany, .array(let items)):
            refuse(
                place,
                Wording(
                    "The list has \(items.count) elements; the limit is \(ResourcePlan.maximumElementCount)."
                ),
                Wording("Write longer lists through sync."))
        default:
            refuse(place, "The data of '\(field.name)' has the wrong shape.", "Send \(Self.example(field, target)).")
        }
    }

    private mutating func link(_ column: Int, _ value: Value, at pointer: RequestPointer) {
        changing { change, contents in
            change.set(column, value, of: change.type.item, into: &contents, at: pointer)
        }
    }

    private static func example(_ field: ResourceField, _ target: ResourceType) -> String {
        let identifier = "{\"type\": \"\(target.name)\", \"id\": …}"
        if case .toMany = field.content { return "[\(identifier), …]" }
        return field.isOptional ? "\(identifier) or null" : identifier
    }

    /// The key in a resource identifier.
    /// - Parameter leadsTo: whether a link will lead to the object, so that it has to exist.
    private mutating func key(
        _ json: JSON, _ target: ResourceType, leadsTo: Bool, at pointer: RequestPointer
    ) -> Value? {
        guard case .string(let name) = json["type"], view.types[name]?.classIndex == target.classIndex else {
            refuse(
                pointer / "type", "The relationship links to '\(target.name)'.", "Send \"type\": \"\(target.name)\".")
            return nil
        }
        if case .string(let lid) = json["lid"], json["id"] == nil {
            guard let key = localKeys[LocalIdentifier(type: target.name, lid: lid)] else {
                refuse(
                    pointer / "lid", "No earlier operation creates a resource with this 'lid'.",
                    "Add it in the same request, before it's used.")
                return nil
            }
            // A later operation may have removed it.
            if leadsTo { links.append(Link(target: target, key: key, pointer: pointer)) }
            return key
        }
        guard case .string(let id) = json["id"], let key = target.keyValue(id) else {
            refuse(
                pointer / "id", Wording("'id' isn't \(ValueText.expected(target.keyType))."),
                Wording("Send the id of one of the \(target.name), as a JSON string."))
            return nil
        }
        if leadsTo { links.append(Link(target: target, key: key, pointer: pointer)) }
        return key
    }
}
