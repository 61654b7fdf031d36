import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
public import TomboloHTTP

/// Where the sections of a panel register their pages and actions. Every one has an access decision, knows who is asking
/// by the session's cookie, and by nothing else.
public struct PanelRoutes {
    let core: PanelCore
    let parts: AdminParts
    let routes: Routes
    /// Which paths are left for an app's own sections; nil for the panel's.
    var custom: CustomPaths?

    /// What a page or an action asks for besides its access.
    public enum Demand: Sendable {
        case nothing
        /// The password, if it was given longer ago than ``PanelSession/proofSeconds``: before what can't be undone, and
        /// before what changes who may do what.
        case recentPassword
        /// The same for some of what it does, such as for some classes: its body calls
        /// ``PanelRequest/demandPassword()`` before it changes anything.
        case recentPasswordSometimes
    }

    /// The address of a form, and what it demands; tests compare all of them with a list.
    struct Action: Hashable, Sendable {
        let path: String
        let demand: Demand
    }

    /// Registers a page, which changes nothing.
    /// - Parameters:
    ///   - path: below ``AdminPanel/path``, with `{name}` for parameters.
    ///   - entry: its place in the navigation, if it has one.
    ///   - access: who may see it. It is asked before anything is demanded.
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

    /// Registers what a form does. It runs only with the token of the session's forms, from a page of this server.
    public func action<Grant: Sendable>(
        _ path: String, access: RouteAccess<Grant>, demands demand: Demand = .nothing, bodyBytes: Int? = nil,
        timeout: Duration? = nil,
        _ body: @escaping @Sendable (PanelRequest, Grant) async throws -> PanelAnswer
    ) {
        on(.post, path, access, demand, bodyBytes: bodyBytes, timeout: timeout, body)
    }

    /// Registers what a form with a file does (`multipart/form-data`), whose first field is the token. The file isn't read
    /// before its sender is let through, and the body takes it as it comes.
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
                throw RequestFailure(.unauthenticated, "This page takes a log-in.")
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
                throw RequestFailure(.unauthenticated, "This page takes a log-in.")
            }
            let request = PanelRequest(request: request, context: context, visit: visit, core: core)
            if demand == .recentPassword { try await request.demandPassword() }
            var response = try await body(request, grant).response(to: request)
            visit.setCookie(in: &response, context)
            return response
        }
    }
}
