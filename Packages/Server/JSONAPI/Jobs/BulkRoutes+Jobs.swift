import HTTPTypes
import Hummingbird
import TomboloHTTP
import TomboloModel

extension BulkRoutes {
    func addJobs(to routes: Routes) {
        let pool = api.pool
        routes.on(.get, "/jobs", access: .own("jobs")) { request, _, user in
            JSONAnswer(try await OwnJobs(of: user, pool).list(before: Self.number(request, "before")))
        }
        routes.on(.get, "/jobs/{id}", access: .own("jobs")) { _, context, user in
            JSONAnswer(try await OwnJobs(of: user, pool).job(Self.id(context)))
        }
        routes.on(.get, "/jobs/{id}/rows", access: .own("jobs")) { request, context, user in
            let outcome = request.uri.queryParameters["outcome"].map { String($0) }
            let after = try Self.number(request, "after") ?? 0
            return JSONAnswer(
                try await OwnJobs(of: user, pool).rows(of: Self.id(context), outcome: outcome, after: after))
        }
        routes.on(.post, "/jobs/{id}/cancel", access: .own("jobs")) { _, context, user in
            JSONAnswer(try await OwnJobs(of: user, pool).cancel(Self.id(context)))
        }
        routes.on(.post, "/jobs/{id}/undo", access: .own("jobs")) { _, context, user in
            Self.accepted(try await OwnJobs(of: user, pool).undo(Self.id(context)))
        }
    }

    /// The job's number in the address.
    static func id(_ context: EdgeContext) throws -> Int64 {
        guard let id = context.parameters.get("id").flatMap(Int64.init) else {
            throw RequestFailure(.notFound, "There is no such job.", hint: "GET /jobs lists your jobs.")
        }
        return id
    }

    private static func number(_ request: Request, _ name: String) throws -> Int64? {
        guard let text = request.uri.queryParameters[name[...]] else { return nil }
        guard let number = Int64(text) else {
            throw RequestFailure(.badRequest, "'\(name)' isn't a number.", source: .parameter(name))
        }
        return number
    }
}
