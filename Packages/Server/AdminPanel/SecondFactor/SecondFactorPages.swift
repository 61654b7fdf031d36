import AdminService
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel
import TomboloLocalization

/// A user's own second factor: setting it up, its recovery codes, and removing it. Account administrators can also
/// remove somebody else's.
struct SecondFactorPages: PanelSection {
    static let path = "\(AdminPanel.path)/second-factor"
    private static let setUpPath = "\(path)/set-up"
    private static var own: RouteAccess<ObjectId> { .own(localized("second factor")) }
    private static let template = PanelTemplate(PackageResources.second_factor_mustache)
    private static let setUp = PanelTemplate(PackageResources.second_factor_set_up_mustache)
    private static let recovery = PanelTemplate(PackageResources.recovery_codes_mustache)
    private static var crumbs: [PanelPage.Crumb] { [PanelPage.Crumb(title: localized("Second factor"), path: path)] }

    func add(to panel: PanelRoutes) {
        panel.page(Self.path, access: Self.own) { request, _ in .page(try await Self.state(request)) }
        panel.action("\(Self.path)/begin", access: Self.own, demands: .recentPassword) { request, _ in
            try await request.core.authenticator.beginSecondFactor(of: request.userID)
            return .redirect(to: Self.setUpPath)
        }
        panel.page(Self.setUpPath, access: Self.own, demands: .recentPassword) { request, _ in
            try await Self.setUpAnswer(request)
        }
        panel.action("\(Self.path)/confirm", access: Self.own, demands: .recentPassword) { request, _ in
            try await Self.confirm(request)
        }
        panel.action("\(Self.path)/recovery-codes", access: Self.own, demands: .recentPassword) { request, _ in
            guard request.visit.session.hasSecondFactor else { throw Self.none }
            let codes = try await request.core.authenticator.renewRecoveryCodes(of: request.userID)
            return .page(Self.page(codes, isNew: false, request))
        }
        panel.action("\(Self.path)/remove", access: Self.own, demands: .recentPassword) { request, _ in
            let session = request.visit.session
            guard !request.core.authenticator.secondFactor.requires(session.subject) else {
                throw RequestFailure(
                    .unprocessable, "Your account requires a second factor.",
                    hint: "Set up another one to replace it.")
            }
            try await request.core.authenticator.removeSecondFactor(of: session.userID)
            return .redirect(
                to: Self.path, notice: PanelNotice(localized("From now on, you log in with your password alone.")))
        }
        addRemoval(to: panel)
    }

    private static var none: RequestFailure {
        RequestFailure(.unprocessable, "Your account has no second factor.")
    }

    // MARK: The caller's own

    private static func state(_ request: PanelRequest) async throws -> PanelPage {
        try request.requireOwnAccount()
        let factor = try await request.core.authenticator.secondFactor(of: request.userID)
        let subject = request.visit.session.subject
        let content = SecondFactorContent(
            factor, isRequired: request.core.authenticator.secondFactor.requires(subject), now: request.now)
        return PanelPage(localized("Second factor"), content: template.render(request.values(content)))
    }

    private static func setUpAnswer(_ request: PanelRequest, problem: RequestFailure? = nil) async throws -> PanelAnswer
    {
        if request.visit.viewing != nil { return .page(try await state(request)) }
        let factor = try await request.core.authenticator.secondFactor(of: request.userID)
        guard let pending = factor.pending else { return .redirect(to: path) }
        let content = SecondFactorSetUpContent(pending, problem: problem?.message)
        return .page(
            PanelPage(
                localized("Set up a second factor"), crumbs: crumbs, content: setUp.render(request.values(content)),
                status: problem?.code.status ?? .ok))
    }

    private static func confirm(_ request: PanelRequest) async throws -> PanelAnswer {
        do {
            let (codes, token) = try await request.core.authenticator.confirmSecondFactor(
                request.visit.session, request.visit.token, code: request.form["code"] ?? "",
                address: request.context.remoteAddress)
            request.visit.renew(token)
            return .page(page(codes, isNew: true, request))
        } catch let error as AuthenticationError {
            let failure = RequestFailure(error)
            guard failure.code.status.kind == .clientError, !failure.code.canRetry else { throw error }
            return try await setUpAnswer(request, problem: failure)
        }
    }

    private static func page(_ codes: [String], isNew: Bool, _ request: PanelRequest) -> PanelPage {
        PanelPage(
            localized("Recovery codes"), crumbs: crumbs,
            content: recovery.render(["codes": codes, "isNew": isNew, "path": path]))
    }

    // MARK: Somebody else's

    private func addRemoval(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        panel.action(
            "\(AccountPages.path)/{id}/second-factor/remove", access: .changingAccounts(models),
            demands: .recentPassword
        ) { request, grant in
            let id = try await AccountPages.changeable(request, grant).userID
            guard id != request.userID else {
                throw RequestFailure(
                    .unprocessable, "You can't remove your own second factor here.",
                    hint: "Use your own page: \(Self.path).")
            }
            do {
                guard try await request.core.authenticator.secondFactor(of: id).since != nil else {
                    throw RequestFailure(.conflict, "This account no longer has a second factor.")
                }
                try await request.core.authenticator.removeSecondFactor(of: id)
            } catch AuthenticationError.unknownUser {
                throw RequestFailure(.notFound, "There is no such account.")
            }
            return .redirect(
                to: "\(AccountPages.path)/\(id)",
                notice: PanelNotice(
                    localized(
                        "The second factor was removed. Until they set up another one, they log in with the password "
                            + "alone."
                    )))
        }
    }
}
