import Hummingbird
import TomboloRules

extension RouteAccess {
    /// For callers whom `other` admits as well. What `other` grants is dropped. The order doesn't matter for who is
    /// admitted, nor for what others are told.
    public func and<Other>(_ other: RouteAccess<Other>) -> RouteAccess {
        let token: TokenNeed =
            switch (token, other.token) {
            case (.required, _), (_, .required): .required
            case (.optional, _), (_, .optional): .optional
            case (.ignored, .ignored): .ignored
            }
        let forecasts = (forecast, other.forecast)
        return RouteAccess(
            deciding: conditions + other.conditions, token: token,
            parameters: parameters.union(other.parameters),
            forecast: { min(forecasts.0($0), forecasts.1($0)) }
        ) { subject, request, context in
            // Both are asked. Otherwise the answer would depend on which is asked first.
            let own = await outcome(subject, request, context)
            let others = await other.outcome(subject, request, context)
            switch (own, others) {
            case (.success(let verdict), .success(let other)):
                return RouteVerdict(grant: verdict.grant, reasons: verdict.reasons + other.reasons)
            case (.failure(let failure), .success): throw failure
            case (.success, .failure(let failure)): throw failure
            case (.failure(let one), .failure(let another)): throw RequestFailure.first(of: one, another)
            }
        }
    }

    /// For callers whom this or `other` admits. If both do, this one grants.
    public func or(_ other: RouteAccess) -> RouteAccess {
        let isRequired = token == .required && other.token == .required
        let forecasts = (forecast, other.forecast)
        let summaries = [summary, other.summary]
        return RouteAccess(
            deciding: [{ "(\(summaries.map { $0() }.sorted().joinedByOr))" }],
            token: isRequired ? .required : .optional, parameters: parameters.union(other.parameters),
            forecast: { max(forecasts.0($0), forecasts.1($0)) }
        ) { subject, request, context in
            let own = await outcome(subject, request, context)
            if case .success(let verdict) = own { return verdict }
            switch (own, await other.outcome(subject, request, context)) {
            case (_, .success(let verdict)): return verdict
            case (.failure(let one), .failure(let another)):
                // An access that couldn't be decided might have admitted the caller.
                let open = [one, another].filter { $0.code.status.kind == .serverError }
                throw open.count == 1 ? open[0] : RequestFailure.first(of: one, another)
            case (.success(let verdict), .failure): return verdict
            }
        }
    }

    private func outcome(
        _ subject: Subject, _ request: Request, _ context: EdgeContext
    ) async -> Result<RouteVerdict<Grant>, RequestFailure> {
        do {
            return .success(try await decide(subject, request, context))
        } catch {
            return .failure(RequestFailure(error))
        }
    }
}

extension RequestFailure {
    /// Which of two refusals is told, whatever their order: a missing login comes before a missing role, and both come
    /// before what an address leads to, which isn't for everybody to know.
    fileprivate static func first(of one: RequestFailure, _ another: RequestFailure) -> RequestFailure {
        (one.rank, one.message) <= (another.rank, another.message) ? one : another
    }

    private var rank: Int {
        switch code.status {
        case .unauthorized: 0
        case .forbidden: 1
        case let status where status.kind == .clientError: 2
        default: 3
        }
    }
}
