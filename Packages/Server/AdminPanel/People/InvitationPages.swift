import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// Where the link of an invitation can lead: somebody accepts it with the account that they have, or makes one.
struct InvitationPages: PanelSection {
    static let path = "\(AdminPanel.path)/invitation"
    private static let acceptPath = "\(path)/accept"
    private static let open = PanelTemplate(PackageResources.invitation_mustache)
    private static let joined = PanelTemplate(PackageResources.invitation_joined_mustache)
    private static let accept = PanelTemplate(PackageResources.invitation_accept_mustache)

    static func address(_ token: String) -> String { "\(path)?token=\(RequestParameters.encode(token))" }

    func add(to panel: PanelRoutes) {
        let (core, routes, people) = (panel.core, panel.routes, panel.parts.people)
        let access = RouteAccess.open(because: "it asks for an invitation's token")
        routes.on(.get, Self.path, access: access) { request, _, _ in
            let token = request.uri.queryParameters["token"].map { String($0) } ?? ""
            return Self.page(core, token)
        }
        routes.on(.post, Self.path, access: access) { request, context, _ in
            // Nobody may make somebody an account from elsewhere, to have them work in another one than they think.
            try RequestOrigin.check(request, isRequired: true)
            return try await Self.join(try await PanelForm(request, context), context, core, people)
        }
        panel.page(Self.acceptPath, access: .own("panel")) { request, _ in
            let content = Self.accept.render([
                "formToken": request.visit.token.formToken, "action": Self.acceptPath,
                "token": request.query("token") ?? "", "email": request.visit.session.email,
            ])
            return .page(PanelPage("Accept an invitation", content: content))
        }
        panel.action(Self.acceptPath, access: .own("panel")) { request, _ in
            let done = try await people.accept(
                request.form["token"] ?? "", by: request.userID, request.context.remoteAddress)
            let role = done["role"]?.text ?? ""
            return .redirect(
                to: AdminPanel.path,
                notice: PanelNotice(
                    done["isNew"] == .bool(true)
                        ? "You have the role \(role) now." : "You had the role \(role) already.")
            )
        }
    }

    private static func page(
        _ core: PanelCore, _ token: String, name: String = "", message: String? = nil,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        var values: [String: Any] = [
            "token": token, "name": name, "action": path,
            "accept": "\(acceptPath)?token=\(RequestParameters.encode(token))",
        ]
        if let message { values["message"] = message }
        return PanelLayout(core: core).response(
            PanelPage("You are invited", content: open.render(values), status: status))
    }

    private static func join(
        _ form: PanelForm, _ context: EdgeContext, _ core: PanelCore, _ people: PeopleRoutes
    ) async throws -> Response {
        let (token, name) = (form["token"] ?? "", form["name"] ?? "")
        do {
            let done = try await people.join(
                token, form["password"] ?? "", name: name.isEmpty ? nil : name, context.remoteAddress)
            let content = joined.render(["role": done["role"]?.text ?? "", "login": LoginPages.path])
            return PanelLayout(core: core).response(
                PanelPage("Your account is made", content: content, status: .created))
        } catch {
            let failure = RequestFailure(error)
            guard failure.code.status.kind == .clientError else { throw error }
            let message = [failure.message, failure.code == .unprocessable ? failure.hint : nil].compactMap(\.self)
            return page(
                core, token, name: name, message: message.joined(separator: " "), status: failure.code.status)
        }
    }
}
