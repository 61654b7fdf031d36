import HTTPTypes
import Hummingbird
import PostgresClient
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The extension `atomic` (jsonapi.org/ext/atomic): several changes of which either all happen or none.
extension JSONAPIRoutes {
    /// The most operations in one request.
    static let maximumOperationCount = 50
    private static let operations = "atomic:operations"

    func addOperations(to routes: Routes) {
        routes.on(
            .post, "\(Self.path)/operations",
            access: .anyObjects(
                localized("change", context: "may …"), ofAny: localized("objects of any class"), by: rules
            ) { Self.writes(of: $0) }
        ) { request, context, grant in
            try await run(request, context, grant)
        }
    }

    private static func writes(of item: ClassSchema) -> [TomboloRules.Operation] {
        ResourceType.isServed(item) ? [.create, .update, removal(of: item)] : []
    }

    private func run(
        _ request: Request, _ context: EdgeContext, _ grant: ModelGrant
    ) async throws -> JSONAPIDocument {
        try RequestDocument.checkNoParameters(request)
        let document = try await RequestDocument.read(
            request, context, requiredExtension: JSONAPIMediaType.atomic)
        let view = CallerView(
            subject: grant.subject, rules: grant.rules, types: try types.value(for: grant.rules.schema))
        let place = RequestPointer() / Self.operations
        guard case .array(let items) = document.json[Self.operations], !items.isEmpty else {
            throw RequestFailure(
                .badRequest, "The document has no operations.",
                hint: "Send {\"\(Self.operations)\": [{\"op\": …}, …]}.", source: .pointer(place.description))
        }
        guard items.count <= Self.maximumOperationCount else {
            throw RequestFailure(
                .badRequest,
                "The request has \(items.count) operations; the limit is \(Self.maximumOperationCount).",
                hint: "Send several requests.", source: .pointer(place.description))
        }
        var localKeys: [ResourceChange.LocalIdentifier: Value] = [:]
        let operations = try items.enumerated().map { index, item in
            try AtomicOperation(item, at: place / "\(index)", view, &localKeys)
        }
        let writer = ResourceWriter(view: view, moveToTrash: moveToTrash)
        let results = try await pool.transaction { connection in
            var results: [ResourceReader.Resource?] = []
            for (index, operation) in operations.enumerated() {
                do {
                    results.append(try await Self.perform(operation, writer, connection))
                } catch {
                    throw Self.located(error, place / "\(index)")
                }
            }
            return results
        }
        return try Self.answer(results)
    }

    nonisolated(nonsending) private static func perform(
        _ operation: AtomicOperation, _ writer: ResourceWriter, _ connection: PostgresConnection
    ) async throws -> ResourceReader.Resource? {
        switch operation.action {
        case .add(let change):
            if let denial = writer.view.refusal(.create, operation.type) { throw RequestFailure(denial) }
            return try await writer.create(change, key: operation.key, at: operation.pointer, connection)
        case .update(let change):
            if let denial = writer.view.refusal(.update, operation.type) { throw RequestFailure(denial) }
            return try await writer.update(change, key: operation.key, at: operation.pointer, connection)
        case .remove(let reason):
            if let denial = writer.view.refusal(removal(of: operation.type.item), operation.type) {
                throw RequestFailure(denial)
            }
            try await writer.remove(operation.type, key: operation.key, because: reason, connection)
            return nil
        }
    }

    /// Adds to an error which operation it was.
    private static func located(_ error: any Error, _ pointer: RequestPointer) -> any Error {
        guard !(error is CancellationError) else { return error }
        var failure = RequestFailure(error)
        if case .pointer(let inner) = failure.source, inner.hasPrefix(pointer.description) { return failure }
        failure.source = .pointer(pointer.description)
        return failure
    }

    private static func answer(_ results: [ResourceReader.Resource?]) throws -> JSONAPIDocument {
        var json = JSONBytes()
        json.append(
            "{\"jsonapi\":{\"version\":\"1.1\",\"ext\":[\"https://jsonapi.org/ext/atomic\"]},\"atomic:results\":[")
        for (index, resource) in results.enumerated() {
            json.append(index == 0 ? "{" : ",{")
            if let resource {
                json.append("\"data\":")
                try resource.plan.append(resource.row, to: &json)
            }
            json.append("}")
        }
        json.append("]}")
        return JSONAPIDocument(json, contentType: "\(JSONAPIMediaType.name);ext=\"\(JSONAPIMediaType.atomic)\"")
    }
}
