import Foundation
import HTTPTypes
import Hummingbird
import Logging
import TomboloLocalization
import TomboloModel

/// The outermost layer of every server. It turns errors into answers, adds the headers that all answers carry, and
/// writes one line of structured log for each request, without query, headers or body. Successful requests that
/// monitors send every few seconds are logged at level `debug`.
struct EdgeMiddleware: RouterMiddleware {
    typealias Context = EdgeContext

    let limits: HTTPLimits
    let routes: RouteTable
    /// Counts large answers until they are read.
    let answers: AnswerBudget
    var metrics: HTTPMetrics?
    /// Keeps requests for administrators; nil to keep none.
    var requests: RequestLog?

    func handle(
        _ request: Request, context: EdgeContext, next: (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.limits = limits
        let peer = context.remoteAddress
        context.isSecure =
            limits.trustedProxies.isSecure(peer: peer, headers: request.headers) ?? context.isSecure
        context.remoteAddress = limits.trustedProxies.clientAddress(
            peer: peer, headers: request.headers)
        if requests != nil { context.callerNote = CallerNote() }
        guard let choose = routes.languageChoice(for: request.uri.path) else {
            guard let wish = request.headers[.acceptLanguage] else { return try await answer(request, context, next) }
            return try await Language.$wish.withValue(wish) { try await answer(request, context, next) }
        }
        guard let catalogue = choose(request, context) else { return try await answer(request, context, next) }
        return try await MessageCatalogue.$current.withValue(catalogue) { try await answer(request, context, next) }
    }

    /// Answers in the language of ``MessageCatalogue/current``.
    private func answer(
        _ request: Request, _ context: EdgeContext, _ next: (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        var failure: RequestFailure?
        var response: Response
        do {
            // The router reads `//admin` as `/admin`; a proxy that blocks the latter may let the former through.
            let path = request.uri.path
            guard path.utf8.count <= limits.pathBytes, !path.hasEmptySegment else {
                throw RequestFailure.noSuchRoute
            }
            if let length = request.headers[.contentLength].flatMap(Int.init), length > limits.bodyBytes,
                length > routes.bodyBytes(for: request.method.rawValue, request.uri.path) ?? 0
            {
                throw RequestFailure.bodyTooLarge
            }
            response = try await next(request, context)
        } catch {
            let found = explain(RequestFailure(error), request)
            failure = found
            let format = routes.failureFormat(for: request.uri.path)
            if let respond = format?.respond {
                response = await respond(found, request, context)
                if let decision = found.decision { response.headers[.decision] = decision }
            } else {
                response =
                    ErrorResponse(failure: found, request: request, requestID: context.id, format: format).response
            }
            if found.code == .methodNotAllowed {
                response.headers[.allow] = routes.methods(for: request.uri.path).joined(separator: ", ")
            }
        }
        response.headers[.requestID] = context.id
        response.headers[.xContentTypeOptions] = "nosniff"
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        let took = ContinuousClock.now - start
        await answers.hold(&response, for: context)
        log(request, response, failure, context, took: took)
        keep(request, response, context, took: took)
        metrics?.count(
            method: request.method.rawValue, route: context.endpointPath, status: response.status.code, took: took)
        return response
    }

    private func keep(_ request: Request, _ response: Response, _ context: EdgeContext, took: Duration) {
        guard let requests else { return }
        let route = context.endpointPath.flatMap { $0.hasPrefix("/") ? $0 : nil }
        // Polls of monitors would push everything else out of the log, and so would files and streams of pages.
        if response.status.kind == .successful, let route {
            guard !Routes.monitored.contains(route), !routes.isLeftOut(route) else { return }
        }
        if response.status == .notModified, took < RequestLog.slowDuration, let route,
            routes.isLeftOutIfUnchanged(route)
        {
            return
        }
        requests.add(
            RequestLog.Entry(
                time: Date().microsecondsSince1970, method: RequestLog.method(request.method.rawValue), route: route,
                status: response.status.code, duration: took, userID: context.callerNote?.value,
                address: context.remoteAddress, requestID: context.id))
    }

    /// The router says "not found" for a wrong method too.
    private func explain(_ failure: RequestFailure, _ request: Request) -> RequestFailure {
        guard failure.code == .notFound, failure.message == RequestFailure.noSuchRoute.message else { return failure }
        let methods = routes.methods(for: request.uri.path)
        guard !methods.isEmpty, !methods.contains(request.method.rawValue) else { return failure }
        return RequestFailure(
            .methodNotAllowed, localized("\(request.method.rawValue) is not possible here."),
            hint: localized("Use \(methods.joinedByOr)."))
    }

    private func log(
        _ request: Request, _ response: Response, _ failure: RequestFailure?, _ context: EdgeContext, took: Duration
    ) {
        let level: Logger.Level =
            switch response.status.kind {
            case .serverError: .error
            case .successful where Routes.monitored.contains(context.endpointPath ?? ""): .debug
            default: .info
            }
        guard context.logger.logLevel <= level else { return }
        let milliseconds = took / .milliseconds(1)
        // The log has the names of routes, not what callers put into addresses.
        var metadata: Logger.Metadata = [
            "method": "\(request.method.rawValue)", "route": "\(context.endpointPath ?? "none")",
            "status": "\(response.status.code)", "milliseconds": "\((milliseconds * 10).rounded() / 10)",
        ]
        if let failure { metadata["code"] = "\(failure.code.rawValue)" }
        if level == .error, let failure {
            metadata["error"] = "\(failure)"
        }
        context.logger.log(level: level, "request", metadata: metadata)
    }
}

extension String {
    /// Whether two slashes follow each other.
    fileprivate var hasEmptySegment: Bool {
        let slash = UInt8(ascii: "/")
        return zip(utf8, utf8.dropFirst()).contains { $0 == slash && $1 == slash }
    }
}

extension HTTPField.Name {
    /// Identifies a request in answers and in the log.
    static let requestID = HTTPField.Name("X-Request-Id")!
}
