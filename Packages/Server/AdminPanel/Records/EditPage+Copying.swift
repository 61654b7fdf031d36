import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// The form of a new object that starts as a copy of another one, as far as the caller can see that.
extension EditPage {
    /// The parameter with the id of the original.
    static let copyParameter = "copy"
    /// The prefix of hidden fields with copied values that have no control: bytes, and lists that are too long for a
    /// form.
    static let copyPrefix = "copy."

    /// The address of the form that copies an object.
    static func copyPath(of type: ResourceType, id: String) -> String {
        "\(newPath(of: type))?\(copyParameter)=\(RequestParameters.encode(id))"
    }

    /// - Throws: ``RequestFailure`` with status 404 for an object that the caller can't see.
    func copy(of id: String) async throws -> Content {
        guard let key = type.keyValue(id) else {
            throw RequestFailure.noSuchObject(ClassTitle.singular(of: type))
        }
        let record = try await reader.record(type, key: key)
        var content = content(of: record.resource)
        content.version = nil
        content.was = [:]
        for field in view.fields(of: type) where content.entries[field.name] == nil {
            guard !fields.contains(where: { $0.field.name == field.name }) else { continue }
            // Lists that are too long to be shown can't be copied here; they are named below the form.
            if case .toMany = field.content {
                if let ids = record.resource.linked(field.name) {
                    content.copied[field.name] = .array(ids.map(JSON.string))
                }
            } else if let value = record.resource.attribute(field.name) {
                content.copied[field.name] = value
            }
        }
        return content
    }

    /// Adds values to a resource object: embedded objects, lists, and what has no control. They're checked like all
    /// input.
    func adding(_ values: [String: JSON], to document: JSON?) -> JSON? {
        guard !values.isEmpty else { return document }
        func members(_ name: String) -> [String: JSON] {
            if case .object(let members)? = document?[name] { members } else { [:] }
        }
        var (attributes, relationships) = (members("attributes"), members("relationships"))
        for (name, value) in values {
            guard case .toMany(_, let target)? = view.fields(of: type).first(where: { $0.name == name })?.content else {
                attributes[name] = value
                continue
            }
            let linked = value.items.map { JSON.object(["type": .string(view.types[target]?.name ?? ""), "id": $0]) }
            relationships[name] = ["data": .array(linked)]
        }
        return ["attributes": .object(attributes), "relationships": .object(relationships)]
    }
}
