import HTTPTypes
import Hummingbird
public import TomboloHTTP
public import TomboloLocalization
import TomboloRules

/// Work on many resources, and the jobs that do it: docs/jobs.md.
///
/// - `POST /bulk/{collection}` changes, trashes, restores or deletes resources: chosen ones, or all that match the
///   filters in the address; with `"dryRun": true` it only says what would happen
/// - `GET /jobs`, `GET /jobs/{id}`, `GET /jobs/{id}/rows`: the caller's own jobs, and the outcome of each row
/// - `POST /import/{collection}` and the routes below it: a file becomes a job
/// - `POST /jobs/{id}/cancel`, `POST /jobs/{id}/undo`
public struct BulkRoutes: Sendable {
    let api: JSONAPIRoutes
    let trash: BulkTrash
    /// The languages of jobs' messages and reasons, besides English.
    let languages: MessageCatalogues

    /// - Parameter api: provides the rules and types.
    public init(api: JSONAPIRoutes, trash: BulkTrash, languages: MessageCatalogues) {
        self.api = api
        self.trash = trash
        self.languages = languages
    }

    public func add(to routes: Routes) {
        routes.on(
            .post, "/bulk/{collection}",
            access: api.access(localized("change or restore", context: "may …")) {
                [.update, JSONAPIRoutes.removal(of: $0), .restore]
            }
            .and(.own(localized("jobs")))
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
        let work = try BulkWork(
            try await request.json(JSON.self, context), matching: parameters, of: type, for: view, trash)
        if work.isDryRun { return JSONAnswer(try await work.dryRun(api.pool)) }
        return Self.accepted(try await work.start(api.pool))
    }

    static func accepted(_ job: JSON) -> JSONAnswer<JSON> {
        var id = ""
        if case .int(let number)? = job["id"] { id = String(number) }
        return JSONAnswer(job, status: .accepted, headers: [.location: "/jobs/\(id)"])
    }
}
