public import HTTPTypes
public import Hummingbird
import TomboloRules

/// Where a service registers its routes. There is no way to register one without saying who may use it: `access` has
/// no default, and the handler gets what it works with from the decision.
public struct Routes {
    let router: Router<EdgeContext>
    let table: RouteTable
    let limits: HTTPLimits
    let identify: @Sendable (String) async throws -> Subject

    /// Registers a route.
    /// - Parameters:
    ///   - path: with `{name}` for parameters.
    ///   - access: who may use it. It is asked first; the handler runs only for those that it lets through.
    ///   - handler: gets what `access` granted: the subject, and the loaded resource where there is one.
    public func on<Grant: Sendable>(
        _ method: HTTPRequest.Method, _ path: String, access: RouteAccess<Grant>,
        handler: @escaping @Sendable (Request, EdgeContext, Grant) async throws -> some ResponseGenerator
    ) {
        table.append(
            RouteDescription(
                method: method.rawValue, path: path, access: access.summary, isOpen: access.token != .required))
        let timeout = limits.requestTimeout
        let identify = identify
        router.on(RouterPath(path), method: method) { request, context in
            try await withTimeout(timeout) {
                let subject: Subject =
                    switch access.token {
                    case .ignored: .anonymous
                    case .optional where request.headers[.authorization] == nil: .anonymous
                    case .optional, .required: try await identify(BearerToken.of(request))
                    }
                let grant = try await access.decide(subject, request, context)
                return try await handler(request, context, grant).response(from: request, context: context)
            }
        }
    }
}
