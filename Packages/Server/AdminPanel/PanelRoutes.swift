import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
public import TomboloHTTP

/// Where the panel's sections register their pages and actions. Every page and action has an access decision, and
/// identifies the caller only by the session's cookie.
public struct PanelRoutes {
    let core: PanelCore
    let parts: AdminParts
    let routes: Routes
    /// The paths that are free for an app's own sections; nil while the panel's sections are registered.
    var custom: CustomPaths?

    /// What a page or an action demands in addition to access.
    public enum Demand: Sendable {
        case nothing
        /// The password, unless it was given within the last ``PanelSession/proofSeconds``. Demanded before
        /// irreversible actions and before changes to permissions.
        case recentPassword
        /// Like ``recentPassword``, but only in some cases, such as for some classes: the body calls
        /// ``PanelRequest/demandPassword()`` before it changes anything.
        case recentPasswordSometimes
    }

    /// A form's address and what it demands. A test compares all of them with a list.
    struct Action: Hashable, Sendable {
        let path: String
        let demand: Demand
    }

    /// Registers a page, which must not change anything.
    /// - Parameters:
    ///   - path: below ``AdminPanel/path``, with `{name}` for parameters.
    ///   - entry: its place in the navigation, if it has one.
    ///   - access: who may see it. Access is checked before anything is demanded.
    public func page<Grant: Sendable>(
        _ path: String, entry: PanelEntry? = nil, access: RouteAccess<Grant>, demands demand: Demand = .nothing,
        _ body: @escaping @Sendable (PanelRequest, Grant) async throws -> PanelAnswer
    ) {
        if let entry {
            core.add(
                PanelEntry.Registered(entry: entry, path: path, purposes: access.purposes) { access.mayAdmit($0) })
        }
        on(.get, path, access, demand, body)
    }

    /// Registers the handler of a form. It runs only if the request carries the session's form token and comes from a
    /// page of this server.
    public func action<Grant: Sendable>(
        _ path: String, access: RouteAccess<Grant>, demands demand: Demand = .nothing, bodyBytes: Int? = nil,
        timeout: Duration? = nil,
        _ body: @escaping @Sendable (PanelRequest, Grant) async throws -> PanelAnswer
    ) {
        on(.post, path, access, demand, bodyBytes: bodyBytes, timeout: timeout, body)
    }

    /// Registers the handler of a form with a file (`multipart/form-data`), whose first field is the token. The file
    /// isn't read until the caller has been admitted; the body then reads it as it arrives.
    func upload<Grant: Sendable>(
        _ path: String, access: RouteAccess<Grant>, bodyBytes: Int, timeout: Duration,
        _ body: @escaping @Sendable (PanelRequest, Grant, inout PanelUpload) async throws -> PanelAnswer
    ) {
        let core = core
        core.add(Action(path: path, demand: .nothing))
        routes.identifying(by: core.uploadIdentity).on(
            .post, path, access: access, bodyBytes: bodyBytes, timeout: timeout
        ) { request, context, grant in
            guard let visit = context.session as? PanelVisit else {
                throw RequestFailure(.unauthenticated, "Log in to see this page.")
            }
            guard var upload = PanelUpload(request, limit: bodyBytes) else { throw PanelForm.foreign }
            try await upload.checkToken(visit.token)
            let request = PanelRequest(request: request, context: context, visit: visit, core: core)
            return try await body(request, grant, &upload).response(to: request)
        }
    }

    private func on<Grant: Sendable>(
        _ method: HTTPRequest.Method, _ path: String, _ access: RouteAccess<Grant>, _ demand: Demand,
        bodyBytes: Int? = nil, timeout: Duration? = nil,
        _ body: @escaping @Sendable (PanelRequest, Grant) async throws -> PanelAnswer
    ) {
        guard admits(method, path, access) else { return }
        let core = core
        if method == .post { core.add(Action(path: path, demand: demand)) }
        routes.on(method, path, access: access, bodyBytes: bodyBytes, timeout: timeout) { request, context, grant in
            guard let visit = context.session as? PanelVisit else {
                throw RequestFailure(.unauthenticated, "Log in to see this page.")
            }
            let request = PanelRequest(request: request, context: context, visit: visit, core: core)
            if demand == .recentPassword { try await request.demandPassword() }
            var response = try await body(request, grant).response(to: request)
            visit.setCookie(in: &response, context)
            return response
        }
    }
}
