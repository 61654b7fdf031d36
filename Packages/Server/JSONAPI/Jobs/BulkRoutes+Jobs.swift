import HTTPTypes
import Hummingbird
import TomboloHTTP
import TomboloLocalization
import TomboloModel

extension BulkRoutes {
    func addJobs(to routes: Routes) {
        routes.on(.get, "/jobs", access: .own(localized("jobs"))) { request, _, user in
            let parameters = try Self.parameters(request, known: ["before"])
            return JSONAnswer(try await jobs(of: user).list(before: Self.number(parameters, "before")))
        }
        routes.on(.get, "/jobs/{id}", access: .own(localized("jobs"))) { request, context, user in
            _ = try Self.parameters(request)
            return JSONAnswer(try await jobs(of: user).job(Self.id(context)))
        }
        routes.on(.get, "/jobs/{id}/rows", access: .own(localized("jobs"))) { request, context, user in
            let parameters = try Self.parameters(request, known: ["outcome", "after"])
            let outcome = parameters.value("outcome")
            let after = try Self.number(parameters, "after") ?? 0
            return JSONAnswer(
                try await jobs(of: user).rows(of: Self.id(context), outcome: outcome, after: after))
        }
        routes.on(.post, "/jobs/{id}/cancel", access: .own(localized("jobs"))) { request, context, user in
            _ = try Self.parameters(request)
            return JSONAnswer(try await jobs(of: user).cancel(Self.id(context)))
        }
        routes.on(.post, "/jobs/{id}/undo", access: .own(localized("jobs"))) { request, context, user in
            _ = try Self.parameters(request)
            return Self.accepted(try await jobs(of: user).undo(Self.id(context)))
        }
    }

    /// Their messages and reasons are in the language that the request prefers.
    func jobs(of user: ObjectId) -> OwnJobs { OwnJobs(of: user, api.pool, in: languages.current) }

    /// The job's number in the address.
    static func id(_ context: EdgeContext) throws -> Int64 {
        guard let id = context.parameters.get("id").flatMap(Int64.init) else {
            throw RequestFailure(.notFound, "There is no such job.", hint: "GET /jobs lists your jobs.")
        }
        return id
    }

    /// - Throws: ``RequestFailure`` with status 400 for an unknown parameter.
    static func parameters(_ request: Request, known: [String] = []) throws -> RequestParameters {
        let parameters = try RequestParameters(request)
        if let stranger = parameters.all.first(where: { !known.contains($0.name) }) {
            throw stranger.failure(
                "it isn't supported here.",
                known.isEmpty
                    ? "This address takes no parameters." : "Expected one of: \(known.joined(separator: ", ")).")
        }
        return parameters
    }

    private static func number(_ parameters: RequestParameters, _ name: String) throws -> Int64? {
        guard let text = parameters.value(name) else { return nil }
        guard let number = Int64(text) else {
            throw RequestFailure(.badRequest, "'\(name)' isn't a number.", source: .parameter(name))
        }
        return number
    }
}
