public import HTTPTypes
public import Hummingbird
import PostgresClient
import TomboloModel
public import TomboloRules

/// Where a service registers its routes. No route can be registered without saying who may use it: `access` has no
/// default, and the decision provides what the handler works with.
public struct Routes {
    let router: Router<EdgeContext>
    let table: RouteTable
    let limits: HTTPLimits
    let identity: RouteIdentity
    /// Whether answers say why they were permitted or refused: for development only.
    let showsDecisions: Bool

    /// The outcome of every route's access for a subject. It includes routes of this server that are registered later.
    public var forecasts: @Sendable (Subject) -> [(route: RouteDescription, forecast: RouteForecast)] {
        { [table] in table.forecasts(for: $0) }
    }

    /// The routes registered so far.
    package var registered: [RouteDescription] { table.all }

    /// Keeps the server from starting, and gives the reason.
    package func refuse(_ mistake: String) { table.refuse(mistake) }

    /// The same table, for routes that identify the caller in another way.
    public func identifying(by identity: RouteIdentity) -> Routes {
        Routes(router: router, table: table, limits: limits, identity: identity, showsDecisions: showsDecisions)
    }

    /// Changes the format of failures at a path and everything below it.
    public func reportFailures(below path: String, as format: FailureFormat) {
        table.report(below: path, as: format)
    }

    /// Translates texts at a path and everything below it, including those of failures.
    public func translate(below path: String, by choose: @escaping LanguageChoice) {
        table.translate(below: path, by: choose)
    }

    /// Leaves a route's successful answers out of the ``RequestLog``: requests that pages send by themselves would push
    /// everything else out.
    public func leaveOutOfRequestLog(_ path: String) { table.leaveOut(path) }

    /// Leaves a route's answers out of the ``RequestLog`` if the caller's copy is still valid (304): pages send these
    /// requests by themselves, and nothing was sent back.
    public func leaveUnchangedOutOfRequestLog(_ path: String) { table.leaveUnchangedOut(path) }

    /// Registers a route.
    /// - Parameters:
    ///   - path: with `{name}` for parameters.
    ///   - access: who may use the route. It is asked first; the handler runs only for callers that it admits.
    ///   - bodyBytes: the longest body, instead of ``HTTPLimits/bodyBytes``.
    ///   - timeout: replaces ``HTTPLimits/requestTimeout``.
    ///   - handler: receives what `access` granted: the subject, and the loaded resource if there is one.
    public func on<Grant: Sendable>(
        _ method: HTTPRequest.Method, _ path: String, access: RouteAccess<Grant>, bodyBytes: Int? = nil,
        timeout: Duration? = nil,
        handler: @escaping @Sendable (Request, EdgeContext, Grant) async throws -> some ResponseGenerator
    ) {
        // If everybody has to prove their identity, it doesn't matter what the rules open to anonymous visitors.
        let refusesAnonymous = access.token != .ignored && !identity.admitsAnonymous
        table.append(
            RouteDescription(
                method: method.rawValue, path: path, access: access.summary,
                isOpen: access.token == .ignored || (access.token == .optional && identity.admitsAnonymous)),
            parameters: access.parameters,
            forecast: { $0.isAnonymous && refusesAnonymous ? .refused : access.forecast($0) }, bodyBytes: bodyBytes)
        let timeout = timeout ?? limits.requestTimeout
        let (identity, showsDecisions) = (identity, showsDecisions)
        // All changes over HTTP originate here.
        let changing = [.get, .head, .options].contains(method) ? nil : "\(method.rawValue) \(path)"
        router.on(RouterPath(path), method: method) { request, context in
            var context = context
            if let bodyBytes { context.limits.bodyBytes = bodyBytes }
            return try await withTimeout(timeout.patient, on: Self.executor(for: request, context)) { [context] in
                let caller: RouteIdentity.Caller =
                    switch access.token {
                    case .ignored: RouteIdentity.Caller(subject: .anonymous)
                    case .optional where identity.admitsAnonymous && !identity.isPresent(request):
                        RouteIdentity.Caller(subject: .anonymous)
                    case .optional, .required: try await identity.identify(request, context)
                    }
                context.callerNote?.value = caller.userID
                guard let session = caller.session else {
                    return try await Self.answer(
                        request, context, access, caller.subject, changing, showsDecisions, handler)
                }
                var context = context
                context.session = session
                do {
                    return try await Self.answer(
                        request, context, access, caller.subject, changing, showsDecisions, handler)
                } catch {
                    var failure = RequestFailure(error)
                    failure.session = session
                    throw failure
                }
            }
        }
    }

    /// The longest body, in bytes, whose request is answered on the event loop. Parsing a larger one would keep other
    /// connections waiting.
    private static let maximumByteCountOnEventLoop = 16_384

    private static func executor(for request: Request, _ context: EdgeContext) -> (any TaskExecutor)? {
        guard request.headers[.transferEncoding] == nil else { return nil }
        let byteCount = request.headers[.contentLength].flatMap(Int.init) ?? 0
        return byteCount <= maximumByteCountOnEventLoop ? context.executor : nil
    }

    /// Asks the access, and then the handler if the caller is admitted.
    /// - Parameter changing: the route, for the audit log, if it may change something.
    private static func answer<Grant: Sendable>(
        _ request: Request, _ context: EdgeContext, _ access: RouteAccess<Grant>, _ subject: Subject,
        _ changing: String?, _ showsDecisions: Bool,
        _ handler: @Sendable (Request, EdgeContext, Grant) async throws -> some ResponseGenerator
    ) async throws -> Response {
        let verdict: RouteVerdict<Grant>
        do {
            verdict = try await access.decide(subject, request, context)
        } catch {
            guard showsDecisions || error is RequestFailure else { throw error }
            var failure = RequestFailure(error)
            if failure.code == .forbidden { failure.purposes = access.purposes }
            if showsDecisions { failure.decision = "refused: \(failure.message)" }
            throw failure
        }
        let user = subject.userID?.stringValue
        let address = context.addressGroup.isEmpty ? nil : context.addressGroup
        var response = try await PostgresBorrower.$current.withValue(PostgresBorrower(user: user, address: address)) {
            guard let changing else {
                return try await PostgresResultLimit.$bytes.withValue(HTTPLimits.readByteCount) {
                    try await handler(request, context, verdict.grant).response(from: request, context: context)
                }
            }
            let origin = ChangeOrigin(.http, user: user, address: context.remoteAddress, route: changing)
            return try await origin.run {
                try await handler(request, context, verdict.grant).response(from: request, context: context)
            }
        }
        if showsDecisions { response.headers[.decision] = "allowed: \(verdict.reason)" }
        return response
    }
}

extension HTTPField.Name {
    /// Why a request was permitted or refused, in development.
    static let decision = HTTPField.Name("Tombolo-Decision")!
}
