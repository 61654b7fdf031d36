import Foundation
import HTTPTypes
import Hummingbird
import PostgresClient
import TomboloHTTP
import TomboloLocalization
package import TomboloModel
package import TomboloRules

extension JSONAPIRoutes {
    /// The operation that a removal needs: objects of classes with a trash go there.
    package static func removal(of item: ClassSchema) -> TomboloRules.Operation { item.isTrashable ? .trash : .delete }

    func addWriting(to routes: Routes) {
        let updating = access(localized("update", context: "may …")) { _ in [.update] }
        routes.on(
            .post, "\(Self.path)/{collection}", access: access(localized("create", context: "may …")) { _ in [.create] }
        ) {
            request, context, grant in
            let (view, type) = try view(grant)
            return try await create(request, context, type, view)
        }
        routes.on(.patch, Self.resource, access: updating) { request, context, grant in
            let (view, type) = try view(grant)
            return try await update(request, context, type, view)
        }
        routes.on(
            .delete, Self.resource,
            access: access(localized("delete or trash", context: "may …")) { [Self.removal(of: $0)] }
        ) { request, context, grant in
            let (view, type) = try view(grant)
            try RequestDocument.checkNoParameters(request)
            let (key, writer) = (try key(context, of: type), ResourceWriter(view: view, moveToTrash: moveToTrash))
            let reason = try await Self.reason(request, context, type)
            try await pool.transaction { connection in
                try await writer.remove(
                    type, key: key, ifMatch: request.headers[.ifMatch], because: reason, connection)
            }
            return JSONAPIDocument.noContent
        }
        for (method, action) in Self.linkActions {
            routes.on(method, "\(Self.resource)/relationships/{relationship}", access: updating) {
                request, context, grant in
                let (view, type) = try view(grant)
                return try await updateRelationship(request, context, type, view, action)
            }
        }
    }

    private static let linkActions: [(HTTPRequest.Method, ResourceChange.LinkAction)] = [
        (.patch, .replace), (.post, .add), (.delete, .remove),
    ]

    // MARK: Resources

    /// The reason for moving something to the trash, from an optional body.
    private static func reason(
        _ request: Request, _ context: EdgeContext, _ type: ResourceType
    ) async throws -> TrashReason? {
        guard let document = try await RequestDocument.readIfAny(request, context)?.json else { return nil }
        guard case .object(let members) = document, members.keys.allSatisfy({ $0 == "meta" || $0 == "jsonapi" }) else {
            throw RequestFailure(
                .badRequest, "The body may contain only 'meta'.",
                hint: #"Send {"meta": {"reason": "…"}}, or no body."#, source: .pointer(""))
        }
        return try reason(inMetaOf: document, type, at: RequestPointer())
    }

    /// - Parameter place: of the object with the member `meta`.
    static func reason(inMetaOf json: JSON, _ type: ResourceType, at place: RequestPointer) throws -> TrashReason? {
        let source = RequestFailure.Source.pointer((place / "meta" / "reason").description)
        switch json["meta"] {
        case nil: return nil
        case .object?: break
        default:
            throw RequestFailure(
                .badRequest, "'meta' isn't an object.", hint: #"Send {"meta": {"reason": "…"}}."#,
                source: .pointer((place / "meta").description))
        }
        guard let reason = try TrashReason(json["meta"]?["reason"], at: source) else { return nil }
        guard type.item.isTrashable else {
            throw RequestFailure(
                .unprocessable, "The \(type.name) have no trash to keep the reason in.",
                hint: "Leave it out: they're deleted permanently.", source: source)
        }
        return reason
    }

    private func create(
        _ request: Request, _ context: EdgeContext, _ type: ResourceType, _ view: CallerView
    ) async throws -> JSONAPIDocument {
        try RequestDocument.checkNoParameters(request)
        let document = try await RequestDocument.read(request, context)
        let pointer = RequestPointer() / "data"
        let resource = try Self.resource(in: document.json, at: pointer)
        try Self.checkType(resource, type, view, at: pointer)
        let key = try Self.newKey(resource, type, at: pointer)
        var change = ResourceChange(type, view)
        change.read(resource, at: pointer)
        try change.check()
        let (checked, writer) = (change, ResourceWriter(view: view, moveToTrash: moveToTrash))
        let made = try await pool.transaction { connection in
            try await writer.create(checked, key: key, at: pointer, connection)
        }
        let address = "\(type.path)/\(RequestParameters.encode(key.keyText))"
        var answer = try Self.answer(made, address, status: .created)
        answer.headers[.location] = address
        return answer
    }

    private func update(
        _ request: Request, _ context: EdgeContext, _ type: ResourceType, _ view: CallerView
    ) async throws -> JSONAPIDocument {
        try RequestDocument.checkNoParameters(request)
        let key = try key(context, of: type)
        let document = try await RequestDocument.read(request, context)
        let pointer = RequestPointer() / "data"
        let resource = try Self.resource(in: document.json, at: pointer)
        try Self.checkType(resource, type, view, at: pointer)
        guard case .string(let id) = resource["id"], type.keyValue(id) == key else {
            throw RequestFailure(
                .conflict, "'id' isn't the id in the address.", hint: "Send the same id in both.",
                source: .pointer((pointer / "id").description))
        }
        var change = ResourceChange(type, view)
        change.read(resource, at: pointer)
        try change.check()
        let (checked, writer) = (change, ResourceWriter(view: view, moveToTrash: moveToTrash))
        let changed = try await pool.transaction { connection in
            try await writer.update(
                checked, key: key, ifMatch: request.headers[.ifMatch], at: pointer, connection)
        }
        return try Self.answer(changed, request.uri.path, status: .ok)
    }

    private func updateRelationship(
        _ request: Request, _ context: EdgeContext, _ type: ResourceType, _ view: CallerView,
        _ action: ResourceChange.LinkAction
    ) async throws -> JSONAPIDocument {
        try RequestDocument.checkNoParameters(request)
        let key = try key(context, of: type)
        let (field, target) = try relationship(context, of: type, view)
        let document = try await RequestDocument.read(request, context)
        var change = ResourceChange(type, view)
        change.readRelationship(field.name, document.json, action, at: RequestPointer())
        try change.check()
        let (checked, writer) = (change, ResourceWriter(view: view, moveToTrash: moveToTrash))
        let changed = try await pool.transaction { connection in
            try await writer.update(
                checked, key: key, ifMatch: request.headers[.ifMatch], at: RequestPointer() / "data", connection)
        }
        guard let changed else { return .noContent }
        return Self.linkage(try changed.plan.linkage(changed.row, field.name), field, target, request)
    }

    // MARK: Documents

    /// The resource object in a document.
    static func resource(in document: JSON, at pointer: RequestPointer) throws -> JSON {
        guard let resource = document["data"], case .object = resource else {
            throw RequestFailure(
                .badRequest, "The document has no resource object.",
                hint: "Send {\"data\": {\"type\": …, \"attributes\": {…}}}.", source: .pointer(pointer.description))
        }
        return resource
    }

    static func checkType(
        _ resource: JSON, _ type: ResourceType, _ view: CallerView, at pointer: RequestPointer
    ) throws {
        guard case .string(let name) = resource["type"], view.types[name]?.classIndex == type.classIndex else {
            throw RequestFailure(
                .conflict, "'type' must be '\(type.name)', as in the address.",
                hint: "Send \"type\": \"\(type.name)\".", source: .pointer((pointer / "type").description))
        }
    }

    /// The key of a new resource: the caller's choice, or a generated one.
    static func newKey(_ resource: JSON, _ type: ResourceType, at pointer: RequestPointer) throws -> Value {
        switch (resource["id"], type.keyType) {
        case (nil, .objectId): return .objectId(.generate())
        case (nil, .uuid): return .uuid(UUID())
        case (.string(let id), _):
            if let key = type.keyValue(id) { return key }
        default: break
        }
        throw RequestFailure(
            .unprocessable, "'id' isn't \(ValueText.expected(type.keyType)).",
            hint: "Send the new resource's id, as a JSON string.",
            source: .pointer((pointer / "id").description))
    }

    /// Answers with the resource as it is now, or with nothing if the caller can't see it.
    static func answer(
        _ resource: ResourceReader.Resource?, _ address: String, status: HTTPResponse.Status
    ) throws -> JSONAPIDocument {
        guard let resource else { return .noContent }
        let (json, version) = try document(resource, self: address)
        var answer = JSONAPIDocument(json, status: status)
        if let version { answer.headers[.eTag] = "\"\(version)\"" }
        return answer
    }
}
