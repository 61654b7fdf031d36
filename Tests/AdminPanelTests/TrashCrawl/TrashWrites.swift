import HTTPTypes
import ServiceTestSupport
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// Changes to a trashed object, and links to it, sent as if it were live.
struct TrashWrites {
    private static let media = "application/vnd.api+json"
    private static let atomic = #"application/vnd.api+json;ext="https://jsonapi.org/ext/atomic""#

    let plant: TrashPlant
    let routes: [RouteDescription]
    /// A live event with a live session.
    let event: ObjectId
    let session: ObjectId

    func all(_ object: TrashPlant.Planted) -> [TrashQuestion] {
        resource(object) + bulk(object) + links(object) + forms(object) + others(object)
    }

    private static func identifier(_ object: TrashPlant.Planted) -> String {
        #"{"type": "\#(object.type.name)", "id": "\#(object.id)"}"#
    }

    // MARK: JSON

    private func resource(_ object: TrashPlant.Planted) -> [TrashQuestion] {
        let (type, id) = (object.type, object.id)
        let path = "/api/\(type.name)/\(id)"
        let data = #"{"type": "\#(type.name)", "id": "\#(id)", "attributes": {"\#(object.title.field)": "Changed"}}"#
        let identifier = Self.identifier(object)
        var questions = [
            TrashQuestion(.patch, path, #"{"data": \#(data)}"#, type: Self.media),
            TrashQuestion(.delete, path),
            TrashQuestion(.delete, "/\(type.name)/\(id)"),
            TrashQuestion(.post, "/admin/\(type.name)/\(id)/trash"),
            TrashQuestion(.post, "/admin/audit/\(type.name)/\(id)/put-back", #"{"entry": "1"}"#),
            operations(#"{"op": "update", "data": \#(data)}"#),
            operations(#"{"op": "remove", "ref": \#(identifier)}"#),
        ]
        for field in type.fields where field.isRelationship {
            let address = "\(path)/relationships/\(field.name)"
            guard case .toMany(_, let target) = field.content, let other = plant.types[target] else {
                questions.append(TrashQuestion(.patch, address, #"{"data": null}"#, type: Self.media))
                continue
            }
            let linked = plant.parents[other.name].map { #"{"type": "\#(other.name)", "id": "\#($0)"}"# } ?? ""
            for method in [HTTPRequest.Method.post, .patch, .delete] {
                questions.append(TrashQuestion(method, address, #"{"data": [\#(linked)]}"#, type: Self.media))
            }
        }
        return questions
    }

    private func operations(_ operation: String) -> TrashQuestion {
        TrashQuestion(.post, "/api/operations", #"{"atomic:operations": [\#(operation)]}"#, type: Self.atomic)
    }

    private func bulk(_ object: TrashPlant.Planted) -> [TrashQuestion] {
        let path = "/bulk/\(object.type.name)"
        let filter = TrashQuestion.query([("filter[\(object.title.field)][startsWith]", object.marker)])
        let update = #""action": "update", "data": {"attributes": {"\#(object.title.field)": "Changed"}}"#
        return [update, #""action": "trash""#].flatMap { action in
            [
                TrashQuestion(.post, path, #"{\#(action), "dryRun": true, "ids": ["\#(object.id)"]}"#),
                TrashQuestion(.post, "\(path)?\(filter)", #"{\#(action), "dryRun": true, "all": true}"#),
            ]
        }
    }

    /// New objects that link to it, and live objects that get a link to it.
    private func links(_ object: TrashPlant.Planted) -> [TrashQuestion] {
        let identifier = Self.identifier(object)
        return plant.types.all.flatMap { type in
            type.fields.flatMap { field -> [TrashQuestion] in
                guard field.target == object.type.classIndex else { return [] }
                let isMany = if case .toMany = field.content { true } else { false }
                let data = isMany ? "[\(identifier)]" : identifier
                var links = [#""\#(field.name)": {"data": \#(data)}"#]
                if field.name != "event", type.field("event") != nil {
                    links.append(#""event": {"data": {"type": "events", "id": "\#(event)"}}"#)
                }
                let texts = (plant[type.item.name]?.texts ?? []).map { #""\#($0.field)": "New""# }
                let made =
                    #"{"type": "\#(type.name)", "attributes": {\#(texts.joined(separator: ", "))}, "#
                    + #""relationships": {\#(links.joined(separator: ", "))}}"#
                var questions = [TrashQuestion(.post, "/api/\(type.name)", #"{"data": \#(made)}"#, type: Self.media)]
                if type.name == "sessions" {
                    let address = "/api/sessions/\(session)/relationships/\(field.name)"
                    questions += [
                        TrashQuestion(.patch, address, #"{"data": \#(data)}"#, type: Self.media),
                        TrashQuestion(
                            sending: [("f.\(field.name)", object.id.stringValue)], to: "/panel/data/sessions/\(session)"
                        ),
                    ]
                    if isMany {
                        questions.append(TrashQuestion(.post, address, #"{"data": \#(data)}"#, type: Self.media))
                    }
                }
                return questions
            }
        }
    }

    // MARK: Forms of the panel

    private func forms(_ object: TrashPlant.Planted) -> [TrashQuestion] {
        let (type, id) = (object.type, object.id.stringValue)
        let path = "/panel/data/\(type.name)/\(id)"
        let chosen = [("which", "chosen"), ("id", id)]
        let found = "/panel/bulk/\(type.name)?\(TrashQuestion.query([("q", object.marker)]))"
        return [
            TrashQuestion(
                sending: [("_version", "x"), ("was.\(object.title.field)", "Old"), ("f.\(object.title.field)", "New")],
                to: path),
            TrashQuestion(sending: [("_version", "x")], to: "\(path)/delete"),
            TrashQuestion(sending: chosen + [("action", "trash")], to: "/panel/bulk/\(type.name)"),
            TrashQuestion(sending: chosen + [("action", "update")], to: "/panel/bulk/\(type.name)"),
            TrashQuestion(sending: [("which", "all"), ("action", "trash")], to: found),
            TrashQuestion(sending: [("entry", "1")], to: "/panel/audit/\(type.name)/\(id)/put-back"),
            TrashQuestion(sending: [("user", id)], to: "/panel/view-as"),
        ]
    }

    /// Every other route that changes something and has the id in its path.
    private func others(_ object: TrashPlant.Planted) -> [TrashQuestion] {
        let known = [
            "/api/", "/panel/data/", "/panel/audit/", "/admin/audit/", "/admin/{collection}/", "/{collection}/",
        ]
        return routes.compactMap { route in
            guard !["GET", "HEAD"].contains(route.method), route.path.contains("{id}"),
                !known.contains(where: { route.path.hasPrefix($0) }),
                let method = HTTPRequest.Method(route.method)
            else { return nil }
            let path = route.path.replacing("{collection}", with: object.type.name)
                .replacing("{id}", with: object.id.stringValue).replacing(/{\w+}/, with: "1")
            return path.hasPrefix("/panel") ? TrashQuestion(sending: [], to: path) : TrashQuestion(method, path, "{}")
        }
    }
}
