import HTTPTypes
import Hummingbird
import PostgresClient
public import TomboloHTTP
import TomboloModel
import TomboloRules

/// Work on many resources, and the jobs that it becomes: docs/jobs.md.
///
/// - `POST /bulk/{collection}` changes, trashes, restores or deletes resources: all that match the filters in the address,
///   or chosen ones; with `"dryRun": true` it says what would happen
/// - `GET /jobs`, `GET /jobs/{id}`, `GET /jobs/{id}/rows`: one's own jobs, and what came of each row
/// - `POST /import/{collection}` and what follows it: a file becomes a job
/// - `POST /jobs/{id}/cancel`, `POST /jobs/{id}/undo`
public struct BulkRoutes: Sendable {
    let api: JSONAPIRoutes
    let trash: BulkTrash

    /// - Parameter api: by whose rules and types it works.
    public init(api: JSONAPIRoutes, trash: BulkTrash) {
        self.api = api
        self.trash = trash
    }

    public func add(to routes: Routes) {
        routes.on(
            .post, "/bulk/{collection}",
            access: api.access("change or restore") { [.update, JSONAPIRoutes.removal(of: $0), .restore] }
                .and(.own("jobs"))
        ) { request, context, grant in
            let (view, type) = try api.view(grant)
            return try await bulk(request, context, type, view)
        }
        addJobs(to: routes)
        addImports(to: routes)
    }

    private func bulk(
        _ request: Request, _ context: EdgeContext, _ type: ResourceType, _ view: CallerView
    ) async throws -> JSONAnswer<JSON> {
        let parameters = try RequestParameters(request)
        let query = try ResourceQuery(parameters, .selection, of: type, for: view)
        let order = try BulkOrder(try await request.json(JSON.self, context), of: type, for: view)
        if order.keys != nil, let parameter = parameters.all.first {
            throw parameter.failure("it doesn't go with 'ids'.", "Send \"all\": true, or leave the filters out.")
        }
        guard let user = view.subject.userID else { throw RequestFailure(.unauthenticated, "This needs a user.") }
        let selection = try BulkSelection(
            type, for: view, matching: query.filter, keys: order.keys, isInTrash: order.action.isAboutTrash)
        var arguments: [String: JSON] = [
            "filter": .object(Dictionary(uniqueKeysWithValues: parameters.all.map { ($0.name, .string($0.value)) })),
            "all": .bool(order.keys == nil),
        ]
        arguments["data"] = order.data
        // What is wrong with the data is wrong for every row.
        let worker = try JobWorker(order.action.kind, .object(arguments), of: type, for: view, trash)
        if order.isDryRun { return JSONAnswer(try await dryRun(selection, worker)) }
        let job = try await api.pool.transaction { [arguments] connection in
            let id = try await JobStore.make(
                order.action.kind, type.item.name, by: user, state: .queued, arguments: .object(arguments), connection)
            let size = try await selection.choose(for: id, connection)
            try order.check(size)
            guard size.count > 0 else {
                throw RequestFailure(.conflict, "Nothing matches.", hint: "Choose other filters.")
            }
            try await JobStore.set(total: size.count, of: id, connection)
            return try await JobStore.job(id, of: user, connection)
        }
        return Self.accepted(job)
    }

    private func dryRun(_ selection: BulkSelection, _ worker: JobWorker) async throws -> JSON {
        let (size, keys) = try await api.pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
            (try await selection.size(connection), try await selection.keys(limit: BulkTrial.limit, connection))
        }
        return try await BulkTrial.run(worker, keys, api.pool).json(size)
    }

    static func accepted(_ job: Job) -> JSONAnswer<JSON> {
        JSONAnswer(job.json, status: .accepted, headers: [.location: "/jobs/\(job.id)"])
    }
}
