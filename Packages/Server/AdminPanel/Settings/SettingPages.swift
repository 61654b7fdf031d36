import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import TomboloHTTP
import TomboloLocalization

/// Lets super administrators change a setting for all admin servers of the database. Settings made where the server is
/// started are shown, but can't be changed.
struct SettingPages: PanelSection {
    private static let template = PanelTemplate(PackageResources.setting_mustache)
    /// The button that removes the panel's value.
    private static let removal = "remove"

    static func path(of setting: ChangeableSetting) -> String { "\(SettingsPages.path)/change/\(setting.name)" }

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let access = RouteAccess.everyMatrix(of: models)
        let path = "\(SettingsPages.path)/change/{name}"
        panel.page(path, access: access) { request, _ in
            .page(try await Self.page(request, try Self.setting(request)))
        }
        panel.action(path, access: access, demands: .recentPassword) { request, _ in try await Self.change(request) }
    }

    /// - Throws: ``RequestFailure`` with status 404.
    private static func setting(_ request: PanelRequest) throws -> ChangeableSetting {
        guard let setting = ChangeableSetting(name: request.parameter("name")) else {
            throw RequestFailure(
                .notFound, "There is no such setting.", hint: "The settings page lists the ones that can be changed.")
        }
        return setting
    }

    // MARK: Looking

    private static func page(
        _ request: PanelRequest, _ setting: ChangeableSetting, entered: String? = nil, problem: String? = nil,
        status: HTTPResponse.Status = .ok
    ) async throws -> PanelPage {
        let content = SettingContent(
            setting, request.core.settings, try await SettingHistory(request.core.pool).newest()[setting],
            entered: entered, problem: problem, now: request.now)
        return PanelPage(
            localized("Change \(setting.name)"),
            crumbs: [PanelPage.Crumb(title: localized("Settings"), path: SettingsPages.path)],
            content: template.render(request.values(content)), status: status)
    }

    // MARK: Changing

    private static func change(_ request: PanelRequest) async throws -> PanelAnswer {
        let setting = try setting(request)
        let core = request.core
        if core.live.isFixed(setting) || core.settings[setting.name] != nil {
            throw RequestFailure(
                .conflict, "This is set where the server is started, so the panel can't change it.",
                hint: "Remove the variable \(setting.name) there and restart the server.")
        }
        var value: String?
        let entered = (request.form["value"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        if request.form[removal] == nil {
            if let problem = setting.problem(with: entered) {
                return .page(
                    try await page(
                        request, setting, entered: entered, problem: problem, status: .unprocessableContent))
            }
            value = entered
        }
        let history = SettingHistory(core.pool)
        let number = request.form["number"].flatMap { Int64($0) } ?? 0
        guard (0..<Int64.max).contains(number),
            try await history.add(value, for: setting, after: number, by: request.userID)
        else {
            return .page(
                try await page(
                    request, setting, entered: value,
                    problem: overtaken(setting, try await history.newest()[setting]),
                    status: .conflict))
        }
        try await core.live.refresh(core.pool, logger: request.context.logger)
        request.context.logger.notice(
            "\(request.userID) changed \(setting.name) to \(value.map(setting.shown) ?? "the default").")
        return .redirect(
            to: SettingsPages.path,
            notice: PanelNotice(
                value == nil
                    ? localized("\(setting.name) has its default value again.")
                    : localized("\(setting.name) was changed. All admin servers use it within a few seconds.")))
    }

    /// The message for somebody whose form is older than somebody else's change.
    private static func overtaken(_ setting: ChangeableSetting, _ change: SettingHistory.Change?) -> String {
        let name = change?.userName ?? localized("unknown")
        guard let value = change?.value else {
            return localized(
                "\(name) has reset this to the default in the meantime. Save again to overwrite it with your value.")
        }
        return localized(
            "\(name) has changed this to \(setting.shown(value)) in the meantime. Save again to overwrite it with your "
                + "value.")
    }
}
