import AdminService
import Foundation
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules
import TomboloServerModel

/// Accounts: their state, devices and logins; ending logins, disabling and enabling. Accounts don't belong to a class,
/// so no class's rules apply. Access follows the `operations` of the apps' permission matrices, see ``AccountsGrant``.
/// Nobody may change the account of a user who has more rights than they do, see ``AccountAuthority``.
struct AccountPages: PanelSection {
    static let path = "\(AdminPanel.path)/accounts"
    private static let list = PanelTemplate(PackageResources.accounts_mustache)
    private static let account = PanelTemplate(PackageResources.account_mustache)
    private static let confirm = PanelTemplate(PackageResources.account_confirm_mustache)
    static var crumb: PanelPage.Crumb { PanelPage.Crumb(title: localized("Accounts"), path: path) }

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let reading = RouteAccess.seeingAccounts(models)
        let changing = RouteAccess.changingAccounts(models)
        panel.page(Self.path, entry: PanelEntry("Accounts", in: .people), access: reading) { request, grant in
            .page(try await list(request, grant))
        }
        panel.page("\(Self.path)/{id}", access: reading) { request, grant in
            .page(try await page(request, grant))
        }
        for isEnabling in [true, false] {
            let path = "\(Self.path)/{id}/\(isEnabling ? "enable" : "disable")"
            panel.page(path, access: changing) { request, grant in
                .page(try await confirmation(request, grant, isEnabling: isEnabling))
            }
            panel.action(path, access: changing, demands: .recentPassword) { request, grant in
                try await set(request, grant, isEnabling: isEnabling)
            }
        }
        panel.action("\(Self.path)/{id}/logins/end", access: changing, demands: .recentPassword) { request, grant in
            let details = try await Self.changeable(request, grant)
            try await request.core.authenticator.endSessions(
                of: details.userID, but: details.userID == request.userID ? request.visit.session.id : nil)
            return .redirect(
                to: "\(Self.path)/\(details.userID)", notice: PanelNotice(localized("All other logins were ended.")))
        }
        panel.action("\(Self.path)/{id}/logins/{login}/end", access: changing) { request, grant in
            let details = try await Self.changeable(request, grant)
            guard let login = try? ObjectId(string: request.parameter("login")) else { throw Self.unknown }
            do {
                try await request.core.authenticator.endSession(login, of: details.userID)
            } catch AuthenticationError.noSuchSession {
                throw RequestFailure(.notFound, "This login has already ended.")
            }
            return .redirect(
                to: "\(Self.path)/\(details.userID)", notice: PanelNotice(localized("The login was ended.")))
        }
    }

    static var unknown: RequestFailure {
        RequestFailure(.notFound, "There is no such account.")
    }

    /// The account named by the address.
    /// - Throws: ``RequestFailure`` with status 404.
    static func details(_ request: PanelRequest) async throws -> AccountDetails {
        guard let id = try? ObjectId(string: request.parameter("id")) else { throw unknown }
        do {
            return try await request.core.authenticator.details(of: id)
        } catch AuthenticationError.unknownUser {
            throw unknown
        }
    }

    /// The account named by the address, if the caller may change it.
    /// - Throws: ``RequestFailure`` with status 404, or 403 if the account's user may do more than the caller.
    static func changeable(_ request: PanelRequest, _ grant: AccountsGrant) async throws -> AccountDetails {
        let details = try await details(request)
        if let refusal = AccountAuthority.refusal(
            of: grant.subject, changing: try await target(request, details.userID), grant.model)
        {
            throw refusal
        }
        return details
    }

    /// What the account's user may do, or could do if the account weren't disabled.
    /// - Throws: ``RequestFailure`` with status 404.
    static func target(_ request: PanelRequest, _ userID: ObjectId) async throws -> Subject {
        do {
            return try await request.core.authenticator.subjectEvenIfDisabled(userID)
        } catch AuthenticationError.unknownUser {
            throw unknown
        }
    }

    // MARK: Looking

    private func list(_ request: PanelRequest, _ grant: AccountsGrant) async throws -> PanelPage {
        let page = try request.pageNumber(limit: Authenticator.accountPageLimit)
        let search = request.query("search")
        let state = try request.query("state").map { text in
            guard let state = AccountState(rawValue: text) else {
                throw RequestFailure(.badRequest, "'state' must be enabled or disabled.")
            }
            return state
        }
        guard search?.utf8.count ?? 0 <= AccountRegistry.maximumEmailByteCount, search?.utf8.contains(0) != true else {
            throw RequestFailure(.badRequest, "'search' is longer than any e-mail address.")
        }
        let found = try await request.core.authenticator.accounts(search: search, state: state, page: page)
        var content = AccountsContent(found, search: search ?? "", state: state, page: page, now: request.now)
        if grant.mayManage { content.newLink = NewAccountPages.path }
        return PanelPage(localized("Accounts"), content: Self.list.render(request.values(content)))
    }

    private func page(_ request: PanelRequest, _ grant: AccountsGrant) async throws -> PanelPage {
        let details = try await Self.details(request)
        let authenticator = request.core.authenticator
        let disabledAt = try await authenticator.disabledAt(details.userID)
        let subject = disabledAt == nil ? try await authenticator.subject(of: details.userID) : nil
        let target = try await Self.target(request, details.userID)
        let refusal =
            grant.mayManage ? AccountAuthority.refusal(of: grant.subject, changing: target, grant.model) : nil
        let mayChange = grant.mayManage && refusal == nil
        var content = AccountContent(
            details, disabledAt: disabledAt, subject: subject,
            scopes: try await request.scopeTitles(of: subject?.grants ?? [], under: grant.model.rules),
            sessions: try await authenticator.sessions(of: details.userID), own: request.visit.session.id,
            mayChange: mayChange,
            mayVerify: grant.mayManage
                && AccountAuthority.refusal(of: grant.subject, verifying: target, grant.model) == nil,
            mayView: subject.map { ViewAs.refusal(of: grant.subject, looking: $0, grant.model) == nil } ?? false,
            isOneself: details.userID == request.userID, now: request.now)
        if mayChange { PasswordLinkPages.add(details, isDisabled: disabledAt != nil, request.core, to: &content) }
        content.refusal = refusal.map { [$0.message, $0.shownHint].compactMap(\.self).joined(separator: " ") }
        content.mayExplain = grant.model.matrices.keys.contains {
            grant.model.refusal(grant.subject, .read, ofMatrixOf: $0) == nil
        }
        if let subject { content.permissions = UserPermissionText.lines(of: subject, grant.model) }
        return PanelPage(
            content.name, crumbs: [Self.crumb], content: Self.account.render(request.values(content)))
    }

    // MARK: Changing

    private func confirmation(
        _ request: PanelRequest, _ grant: AccountsGrant, isEnabling: Bool
    ) async throws -> PanelPage {
        let details = try await Self.changeable(request, grant)
        let content = AccountConfirmContent(details, isEnabling: isEnabling)
        return PanelPage(
            content.heading,
            crumbs: [Self.crumb, PanelPage.Crumb(title: content.name, path: "\(Self.path)/\(content.id)")],
            content: Self.confirm.render(request.values(content)))
    }

    private func set(
        _ request: PanelRequest, _ grant: AccountsGrant, isEnabling: Bool
    ) async throws -> PanelAnswer {
        let details = try await Self.changeable(request, grant)
        guard details.userID != request.userID else {
            throw RequestFailure(
                .unprocessable, "You can't disable your own account.", hint: "Another administrator can.")
        }
        if isEnabling {
            let trash = Trash(schema: grant.model.schema, pool: request.core.pool)
            if let name = try await trash.className(of: details.userID) {
                throw RequestFailure(
                    .conflict, "The \(name) of this account is in the trash, so the account is disabled.",
                    hint: "Restore the \(name) from the trash.")
            }
        }
        try await request.core.authenticator.setEnabled(isEnabling, details.userID)
        let name = details.name.isEmpty ? details.email ?? localized("The account") : details.name
        return .redirect(
            to: "\(Self.path)/\(details.userID)",
            notice: PanelNotice(
                isEnabling
                    ? localized("\(name) may log in again.")
                    : localized("\(name) is disabled, and was logged out everywhere.")))
    }
}
