import HTTPTypes
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Requests that change something, limited to operations that the rules permit the caller on some objects.
extension RequestExamples {
    /// The most optional attributes in a new object.
    private static let optionalCount = 2
    /// The longest value that a request repeats, in bytes.
    private static let valueByteCount = 120

    // MARK: Resources

    package var create: ExampleRequest? {
        guard view.refusal(.create, type) == nil else { return nil }
        var resource: [String: JSON] = ["type": .string(name)]
        switch type.keyType {
        case .objectId, .uuid: break
        default: resource["id"] = .string(example(type.keyType))
        }
        let (attributes, relationships) = newMembers
        if !attributes.isEmpty { resource["attributes"] = .object(attributes) }
        if !relationships.isEmpty { resource["relationships"] = .object(relationships) }
        return ExampleRequest(
            localized("Create one of the \(name)"), .post, type.path, body: ["data": .object(resource)])
    }

    private var newMembers: (attributes: [String: JSON], relationships: [String: JSON]) {
        let demanded = view.demandedOnCreation(of: type)
        let title = view.titleField(of: type)?.name
        var attributes: [String: JSON] = [:]
        var relationships: [String: JSON] = [:]
        var optionalCount = 0
        for field in writable {
            let wanted = field.column.flatMap { demanded[$0] }.flatMap { $0.isNull ? nil : $0 }
            switch field.content {
            case .toOne(_, let target):
                let asked = wanted.flatMap { value in view.types[target].map { Self.identifier($0, value) } }
                if let link = asked ?? samples.links[field.name] { relationships[field.name] = ["data": link] }
            case .value(_, let valueType):
                if let wanted {
                    attributes[field.name] = JSON(wanted)
                } else if field.isRequiredOnCreation || field.name == title {
                    attributes[field.name] = newValue(field, valueType)
                } else if Self.isPlain(valueType), field.allowedValues == nil, optionalCount < Self.optionalCount {
                    attributes[field.name] = newValue(field, valueType)
                    optionalCount += 1
                }
            case .array, .embedded, .values, .objects, .toMany: break
            }
        }
        return (attributes, relationships)
    }

    /// A new value for a field. If only a few values are possible, it's the one that a similar object has: rules often
    /// check such fields.
    private func newValue(_ field: ResourceField, _ valueType: PropertyType) -> JSON {
        guard let allowed = field.allowedValues?.values.map(JSON.init) else {
            return ValueText.value(example(valueType), valueType).map(JSON.init) ?? .null
        }
        if let known = samples.create?.attribute(field.name), allowed.contains(known) { return known }
        return allowed.first ?? .null
    }

    private static func isPlain(_ type: PropertyType) -> Bool {
        switch type {
        case .int, .float, .double, .decimal128, .string, .date: true
        default: false
        }
    }

    /// The fields that the caller may set.
    private var writable: [ResourceField] {
        let fixed = view.fixedColumns(of: type)
        return fields.filter { field in field.column.map { !fixed.contains($0) } ?? true }
    }

    package var update: ExampleRequest? {
        guard view.refusal(.update, type) == nil else { return nil }
        var resource: [String: JSON] = [
            "type": .string(name), "id": .string(samples.update?.id ?? ExampleRequest.placeholder),
        ]
        if let (name, value) = repeated { resource["attributes"] = [name: value] }
        return ExampleRequest(
            localized("Update one of the \(name)"), .patch, path(samples.update?.id), ifMatch: samples.update?.version,
            body: ["data": .object(resource)])
    }

    /// An attribute with its current value: the title if there is one and it's short.
    private var repeated: (name: String, value: JSON)? {
        let title = view.titleField(of: type)?.name
        var best: (name: String, value: JSON)?
        for field in writable {
            guard case .value(_, let valueType) = field.content, field.allowedValues == nil else { continue }
            guard let sample = samples.update else {
                guard best == nil || field.name == title else { continue }
                best = (field.name, newValue(field, valueType))
                continue
            }
            guard let value = sample.attribute(field.name), value.indented().utf8.count <= Self.valueByteCount else {
                continue
            }
            if best == nil || best?.value == .null || (field.name == title && value != .null) {
                best = (field.name, value)
            }
        }
        return best
    }

    package var remove: ExampleRequest? {
        guard view.refusal(JSONAPIRoutes.removal(of: type.item), type) == nil else { return nil }
        return ExampleRequest(
            type.item.isTrashable
                ? localized("Move one of the \(name) to the trash")
                : localized("Delete one of the \(name) permanently"),
            .delete, path(nil),
            body: type.item.isTrashable ? .some(["meta": ["reason": .string(example(.string))]]) : .none)
    }

    // MARK: Relationships

    /// Requests about the targets of the first relationship of each kind.
    package var links: [ExampleRequest] {
        guard view.refusal(.update, type) == nil else { return [] }
        let known = relationships.filter { relationship in writable.contains { $0.name == relationship.field.name } }
        func isLinked(_ field: ResourceField) -> Bool { samples.update?.linked(field.name).isEmpty == false }
        let (lists, single) = (known.filter { $0.field.column == nil }, known.filter { $0.field.column != nil })
        var requests: [ExampleRequest] = []
        if let (field, target) = single.first(where: { isLinked($0.field) }) ?? single.first {
            let link = samples.update?.linked(field.name).first ?? Self.placeholder(target)
            requests.append(request(localized("Change what '\(field.name)' links to"), .patch, field, link))
        }
        if let (field, target) = lists.first(where: { isLinked($0.field) }) ?? lists.first {
            let link = samples.update?.linked(field.name).first ?? Self.placeholder(target)
            requests.append(request(localized("Add to what '\(field.name)' links to"), .post, field, .array([link])))
            requests.append(
                request(
                    localized("Remove from what '\(field.name)' links to"), .delete, field,
                    .array([Self.placeholder(target)])))
        }
        return requests
    }

    private func request(
        _ title: String, _ method: HTTPRequest.Method, _ field: ResourceField, _ data: JSON
    ) -> ExampleRequest {
        ExampleRequest(title, method, path(samples.update?.id, "relationships", field.name), body: ["data": data])
    }

    private static func identifier(_ type: ResourceType, _ key: Value) -> JSON {
        ["type": .string(type.name), "id": .string(key.keyText)]
    }

    private static func placeholder(_ type: ResourceType) -> JSON {
        ["type": .string(type.name), "id": .string(ExampleRequest.placeholder)]
    }
}
