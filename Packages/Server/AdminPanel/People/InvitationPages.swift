import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The target of an invitation's link: the invitee accepts it with an existing account or creates one.
struct InvitationPages: PanelSection {
    static let path = PeopleOptions.panelPath
    private static let acceptPath = "\(path)/accept"
    private static let open = PanelTemplate(PackageResources.invitation_mustache)
    private static let joined = PanelTemplate(PackageResources.invitation_joined_mustache)
    private static let accept = PanelTemplate(PackageResources.invitation_accept_mustache)

    static func address(_ token: String) -> String { "\(path)?token=\(RequestParameters.encode(token))" }

    func add(to panel: PanelRoutes) {
        let (core, routes, people) = (panel.core, panel.routes, panel.parts.people)
        let access = RouteAccess.open(because: localized("it requires an invitation's token"))
        routes.on(.get, Self.path, access: access) { request, context, _ in
            let token = request.uri.queryParameters["token"].map { String($0) } ?? ""
            return try await Self.page(core, people, token, context)
        }
        routes.on(.post, Self.path, access: access) { request, context, _ in
            // Another site must not create an account for somebody, making them work in an account other than the one
            // they think they're using.
            try RequestOrigin.check(request, isRequired: true)
            return try await Self.join(try await PanelForm(request, context), context, core, people)
        }
        panel.page(Self.acceptPath, access: .own(localized("panel"))) { request, _ in
            let token = request.query("token") ?? ""
            var values: [String: Any] = [
                "formToken": request.visit.token.formToken, "action": Self.acceptPath,
                "token": token, "email": request.visit.session.email,
            ]
            let offer = try await Self.offer(core, people, token, request.context)
            values.merge(offer.values) { $1 }
            values["isOther"] = offer.email.map { !$0.hasBytes(of: request.visit.session.email) } ?? false
            return .page(PanelPage(localized("Accept an invitation"), content: Self.accept.render(values)))
        }
        panel.action(Self.acceptPath, access: .own(localized("panel"))) { request, _ in
            let done = try await people.accept(
                request.form["token"] ?? "", by: request.userID, request.context.remoteAddress)
            let role = localizedName(done["role"]?.text ?? "")
            return .redirect(
                to: AdminPanel.path,
                notice: PanelNotice(
                    done["isNew"] == .bool(true)
                        ? localized("You now have the role \(role).") : localized("You already had the role \(role).")
                ))
        }
    }

    /// What templates show of an invitation, or why it's no longer open. It omits the invited address, because the link
    /// may have reached somebody else.
    private struct Offer {
        var values: [String: Any] = [:]
        var email: String?
    }

    private static func offer(
        _ core: PanelCore, _ people: PeopleRoutes, _ token: String, _ context: EdgeContext
    ) async throws -> Offer {
        do {
            let found = try await people.look(token, context.remoteAddress)
            var offer = Offer(email: found["email"]?.text)
            let (inviter, role) = (found["inviter"]?.text ?? "", localizedName(found["role"]?.text ?? ""))
            offer.values = [
                "isOpen": true, "invites": localized("\(inviter) invites you to be \(role)."),
                "until": String((found["expiresAt"]?.text ?? "").prefix(10)),
                "makesAccounts": found["makesAccounts"] == .bool(true),
            ]
            let schema = core.rules.current.schema
            if let name = found["scopeClass"]?.text, let item = schema[name],
                let id = found["scope"]?.text.flatMap({ try? ObjectId(string: $0) }),
                let row = try await RowReader(schema: schema, pool: core.pool).object(name, id: id)
            {
                let title = ObjectTitle.of(row, item)
                offer.values["invites"] = localized("\(inviter) invites you to be \(role) of \(title).")
            }
            return offer
        } catch {
            let failure = RequestFailure(error)
            guard failure.code.status.kind == .clientError else { throw error }
            return Offer(values: [
                "message": [failure.message, failure.shownHint].compactMap(\.self).joined(separator: " ")
            ])
        }
    }

    private static func page(
        _ core: PanelCore, _ people: PeopleRoutes, _ token: String, _ context: EdgeContext, name: String = "",
        message: String? = nil, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        var values: [String: Any] = [
            "token": token, "name": name, "action": path,
            "accept": "\(acceptPath)?token=\(RequestParameters.encode(token))",
        ]
        values.merge(try await offer(core, people, token, context).values) { $1 }
        if let message { values["message"] = message }
        return PanelLayout(core: core).response(
            PanelPage(localized("You are invited"), content: open.render(values), status: status))
    }

    private static func join(
        _ form: PanelForm, _ context: EdgeContext, _ core: PanelCore, _ people: PeopleRoutes
    ) async throws -> Response {
        let (token, name) = (form["token"] ?? "", form["name"] ?? "")
        do {
            let done = try await people.join(
                token, form["password"] ?? "", name: name.isEmpty ? nil : name, context.remoteAddress)
            let role = localizedName(done["role"]?.text ?? "")
            let content = joined.render(["role": role, "login": LoginPages.path])
            return PanelLayout(core: core).response(
                PanelPage(localized("Your account was created"), content: content, status: .created))
        } catch {
            let failure = RequestFailure(error)
            guard failure.code.status.kind == .clientError else { throw error }
            let message = [failure.message, failure.shownHint].compactMap(\.self).joined(separator: " ")
            return try await page(
                core, people, token, context, name: name, message: message, status: failure.code.status)
        }
    }
}
