import AdminService
import HTTPTypes
import Hummingbird
import Logging
import PostgresClient
import TomboloAuthentication
import TomboloHTTP
import TomboloServerModel
import TomboloLocalization

/// The settings that this server runs with, for super administrators, and a test mail. Some of the settings can be
/// changed with ``SettingPages``; the others are set where the server is started.
struct SettingsPages: PanelSection {
    static let path = "\(AdminPanel.path)/settings"
    private static let mailPath = "\(path)/test-mail"
    /// How long the test mail may take; must exceed the mail carrier's own timeout.
    private static let mailTimeout = Duration.seconds(60)
    private static let template = PanelTemplate(PackageResources.settings_mustache)

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let access = RouteAccess.everyMatrix(of: models)
        panel.page(Self.path, entry: PanelEntry("Settings", in: .system), access: access) { request, model in
            .page(try await page(request, model))
        }
        panel.action(Self.mailPath, access: access, timeout: Self.mailTimeout) { request, model in
            try await sendTestMail(request, model)
        }
    }

    private func page(
        _ request: PanelRequest, _ model: ServerModel, mailProblem: MailDeliveryError? = nil
    ) async throws -> PanelPage {
        let core = request.core
        let database = try await core.pool.query(
            "SELECT current_setting('server_version'), current_user::text, current_database()::text")[0]
        let warnings = SettingsWarnings(
            settings: core.settings, hasMail: core.authenticator.hasMail, hasAddress: core.address != nil,
            isSecure: request.context.isSecure)
        let (version, user, name) = (try database[0].string, try database[1].string, try database[2].string)
        let content = SettingsContent(
            core.settings, states: try await SettingState.all(request), address: core.address,
            modelVersion: model.version,
            database: localized("PostgreSQL \(version), as \(user) in the database \(name)"),
            warnings: warnings.texts, hasMail: core.authenticator.hasMail, email: request.visit.session.email,
            mailPath: Self.mailPath, problem: mailProblem)
        return PanelPage(
            localized("Settings"), content: Self.template.render(request.values(content)),
            status: mailProblem == nil ? .ok : .badGateway)
    }

    private func sendTestMail(_ request: PanelRequest, _ model: ServerModel) async throws -> PanelAnswer {
        let email = request.visit.session.email
        do {
            try await request.core.authenticator.sendTestMail(to: email, address: request.context.remoteAddress)
        } catch let error as MailDeliveryError {
            let reason = MessageCatalogue.$current.withValue(nil) { error.description }
            request.context.logger.notice("\(request.userID) sent a test mail, which wasn't accepted: \(reason)")
            return .page(try await page(request, model, mailProblem: error))
        }
        request.context.logger.notice("\(request.userID) sent a test mail, which was accepted.")
        return .redirect(
            to: Self.path,
            notice: PanelNotice(
                localized(
                    "The carrier accepted a test mail to \(email). If it doesn't arrive, check the carrier's log and "
                        + "your spam folder.")))
    }
}
