import AdminService
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel
import TomboloLocalization

/// What servers do automatically: the last run, the next, and the outcome. It's for users whom the rules permit to
/// `inspect`. Running a job now is for super administrators; running the purge requires the usual permission for it.
struct SchedulePages: PanelSection {
    static let path = "\(AdminPanel.path)/schedule"
    /// How often a browser without JavaScript reloads the page while a job is about to begin or running, in seconds.
    private static let refreshSeconds = 3
    private static let template = PanelTemplate(PackageResources.schedule_mustache)

    /// The action that runs a kind of work.
    static func path(running kind: ScheduledWork.Kind) -> String { "\(path)/\(kind.rawValue)/run" }

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let running = RouteAccess.everyMatrix(of: models)
        panel.page(Self.path, entry: PanelEntry("Scheduled jobs", in: .system), access: .inspecting(models)) {
            request, model in
            .page(try await page(request, model, isOperator: running.mayAdmit(request.subject)))
        }
        panel.action("\(Self.path)/{job}/run", access: running) { request, _ in
            .redirect(to: Self.path, notice: PanelNotice(try await run(request)))
        }
    }

    private func page(_ request: PanelRequest, _ model: ServerModel, isOperator: Bool) async throws -> PanelPage {
        let mayPurge =
            (try? ClassesGrant(
                request.subject, .purge, ofAny: localized("objects"), { Trash.classes(of: $0).map(\.name) },
                by: model.rules))
            != nil
        let works = try await Schedule(request.core.pool).works(
            makesBackups: request.core.backups?.settings.interval != nil, now: request.now)
        let content = ScheduleContent(
            works, mayPurge: mayPurge, mayBackUp: isOperator, mayRun: isOperator && request.visit.viewing == nil,
            now: request.now)
        var page = PanelPage(localized("Scheduled jobs"), content: Self.template.render(request.values(content)))
        if content.isOpen { page.refreshSeconds = Self.refreshSeconds }
        return page
    }

    /// - Returns: the text of the notice.
    private func run(_ request: PanelRequest) async throws -> String {
        guard let kind = ScheduledWork.Kind(rawValue: request.parameter("job")) else { throw Schedule.unknown }
        do {
            try await Schedule(request.core.pool).ask(for: kind, by: request.userID)
            return localized("The job begins in a moment.")
        } catch let failure as RequestFailure where failure.code == .conflict {
            return [failure.message, failure.shownHint].compactMap(\.self).joined(separator: " ")
        }
    }
}
