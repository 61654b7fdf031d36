import TomboloHTTP
import TomboloLocalization
import TomboloModel

/// One operation of the extension `atomic`, with all names resolved.
struct AtomicOperation {
    enum Action {
        case add(ResourceChange)
        case update(ResourceChange)
        case remove(TrashReason?)
    }

    let action: Action
    let type: ResourceType
    let key: Value
    /// Where the data is in the body.
    let pointer: RequestPointer

    /// - Parameter localKeys: the keys of resources that earlier operations create; this one's is added.
    /// - Throws: ``RequestFailure`` that says where in the body the problem is.
    init(
        _ json: JSON, at place: RequestPointer, _ view: CallerView,
        _ localKeys: inout [ResourceChange.LocalIdentifier: Value]
    ) throws {
        func failure(_ pointer: RequestPointer, _ message: String, _ remedy: String) -> RequestFailure {
            RequestFailure(.badRequest, message, hint: remedy, source: .pointer(pointer.description))
        }
        guard json["href"] == nil else {
            throw failure(place / "href", "'href' isn't supported here.", "Name the resource with 'ref'.")
        }
        guard case .string(let name) = json["op"], ["add", "update", "remove"].contains(name) else {
            throw failure(place / "op", "'op' isn't an operation.", "Send add, update or remove.")
        }
        let isRelationship = json["ref"]?["relationship"] != nil
        let data = place / "data"
        guard
            name == "remove" || isRelationship
                || json["data"].map({ if case .object = $0 { true } else { false } }) == true
        else { throw failure(data, "The operation has no resource object.", "Send {\"type\": …} as 'data'.") }
        // The operation's target: for a new resource its own type, otherwise `ref` or the data itself.
        let isByReference = json["ref"] != nil && (name != "add" || isRelationship)
        let (target, targetPlace) = isByReference ? (json["ref"], place / "ref") : (json["data"], data)
        guard case .string(let typeName) = target?["type"], let type = view.types[typeName] else {
            throw failure(
                targetPlace / "type", "'type' isn't a resource type.",
                ResourceQuery.nearest("", view.types.all.map(\.name)).localized)
        }
        self.type = type
        let local = Self.text(target?["lid"]).map { ResourceChange.LocalIdentifier(type: type.name, lid: $0) }
        switch name {
        case "add" where !isRelationship:
            guard json["ref"] == nil else {
                throw failure(
                    place / "ref", "An 'add' of a resource can't have a 'ref'.",
                    "Leave it out, or name a to-many relationship in it.")
            }
            key = try JSONAPIRoutes.newKey(target ?? .null, type, at: data)
            if let local {
                guard localKeys.updateValue(key, forKey: local) == nil else {
                    throw failure(data / "lid", "'lid' is used twice.", "Give each new resource its own.")
                }
            }
        default:
            if let local {
                guard let known = localKeys[local] else {
                    throw failure(
                        targetPlace / "lid", "No earlier operation creates a resource with this 'lid'.",
                        "Add it in the same request, before it's used.")
                }
                key = known
            } else {
                guard let id = Self.text(target?["id"]), let known = type.keyValue(id) else {
                    throw failure(
                        targetPlace / "id", "'id' isn't \(ValueText.expected(type.keyType)).",
                        "Send the resource's id, as a JSON string.")
                }
                key = known
            }
        }
        var change = ResourceChange(type, view, localKeys: localKeys)
        if isRelationship {
            let action: ResourceChange.LinkAction = name == "update" ? .replace : name == "add" ? .add : .remove
            // Like the body of PATCH, POST or DELETE …/relationships/… .
            change.readRelationship(Self.text(json["ref"]?["relationship"]) ?? "", json, action, at: place)
            self.action = .update(change)
        } else if name == "remove" {
            action = .remove(try JSONAPIRoutes.reason(inMetaOf: json, type, at: place))
        } else {
            // The rules check what 'ref' names, so the data mustn't name anything else.
            for member in isByReference ? ["type", "id", "lid"] : [] {
                guard let said = json["data"]?[member], said != json["ref"]?[member] else { continue }
                throw failure(
                    data / member, "'data' and 'ref' name different resources.",
                    "Name the same one in both, or leave 'ref' out.")
            }
            change.read(json["data"] ?? .null, at: data)
            action = name == "add" ? .add(change) : .update(change)
        }
        pointer = data
        try change.check()
    }

    private static func text(_ json: JSON?) -> String? { if case .string(let text) = json { text } else { nil } }
}
