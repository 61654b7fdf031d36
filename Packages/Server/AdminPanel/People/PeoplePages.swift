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

/// Who has which role in which scope, inviting people, and transferring a role that only one person can have:
/// docs/people.md.
struct PeoplePages: PanelSection {
    static let path = "\(AdminPanel.path)/people"
    private static let people = PanelTemplate(PackageResources.people_mustache)
    private static let invited = PanelTemplate(PackageResources.people_invited_mustache)
    private static var crumb: PanelPage.Crumb { PanelPage.Crumb(title: localized("People"), path: path) }

    /// The page of one scope; nil for roles that apply everywhere.
    static func address(_ className: String?, _ scope: String?) -> String {
        let parts = [("class", className), ("scope", scope)].compactMap { name, value in
            value.map { "\(name)=\(RequestParameters.encode($0))" }
        }
        return parts.isEmpty ? path : "\(path)?\(parts.joined(separator: "&"))"
    }

    func add(to panel: PanelRoutes) {
        let (rules, people) = (panel.core.rules, panel.parts.people)
        let reading = PeopleRoutes.access(to: .read, rules)
        let inviting = PeopleRoutes.access(to: .create, rules)
        panel.page(Self.path, entry: PanelEntry("People", in: .people), access: reading) { request, grant in
            let scope = try RoleScope(request, grant.rules, request.query("class"), request.query("scope"))
            let content = try await PeopleReader(request: request, scope: scope, people: people).content(grant)
            return .page(PanelPage(localized("People"), content: Self.people.render(request.values(content))))
        }
        panel.action("\(Self.path)/invite", access: inviting, demands: .recentPassword) { request, grant in
            let scope = try RoleScope(request, grant.rules, request.form["class"], request.form["scope"])
            let sent = try await people.invite(
                email: request.form["email"] ?? "", role: request.form["role"] ?? "", scope: scope.key,
                className: scope.className, grant, request.context.remoteAddress)
            return try await Self.tell(sent, request)
        }
        panel.action("\(Self.path)/invitations/{id}/resend", access: inviting) { request, grant in
            try await Self.tell(
                try await people.resend(Self.id(request), grant, request.context.remoteAddress), request)
        }
        panel.action("\(Self.path)/invitations/{id}/revoke", access: inviting) { request, grant in
            let revoked = try await people.revoke(Self.id(request), grant)
            let email = revoked["email"]?.text ?? ""
            return .redirect(
                to: Self.address(revoked["class"]?.text, revoked["scope"]?.text),
                notice: PanelNotice(localized("The invitation of \(email) was revoked.")))
        }
        panel.action(
            "\(Self.path)/transfer", access: PeopleRoutes.access(to: .transfer, rules), demands: .recentPassword
        ) { request, grant in
            let scope = try RoleScope(request, grant.rules, request.form["class"], request.form["scope"])
            let done = try await people.transfer(
                className: scope.className, role: request.form["role"], scope: scope.key ?? "",
                to: request.form["to"] ?? "", grant)
            let role = localizedName(done["role"]?.text ?? "")
            let left = localizedName(done["left"]?.text ?? "")
            return .redirect(
                to: Self.address(scope.className, scope.key),
                notice: PanelNotice(
                    localized("The role \(role) was handed over. The previous holder is now \(left).")))
        }
    }

    private static func id(_ request: PanelRequest) throws -> ObjectId {
        guard let id = try? ObjectId(string: request.parameter("id")) else {
            throw RequestFailure(
                .notFound, "There is no such invitation.", hint: "People lists the ones you may see.")
        }
        return id
    }

    /// If an invitation was mailed, the list says so. Otherwise its link is shown once: it's neither in a cookie nor in
    /// any address of this server.
    private static func tell(_ sent: JSON, _ request: PanelRequest) async throws -> PanelAnswer {
        let email = sent["email"]?.text ?? ""
        let back = address(sent["class"]?.text, sent["scope"]?.text)
        guard let token = sent["token"]?.text else {
            return .redirect(to: back, notice: PanelNotice(localized("\(email) was invited by e-mail.")))
        }
        let origin = "\(request.context.isSecure ? "https" : "http")://\(request.request.head.authority ?? "")"
        let link = sent["link"]?.text ?? "\(origin)\(InvitationPages.address(token))"
        let content = invited.render([
            "email": email, "link": link, "back": back,
            "makesAccounts": try await request.core.authenticator.registersUnproven(),
        ])
        return .page(PanelPage(localized("\(email) is invited"), crumbs: [crumb], content: content))
    }
}
