import AdminService
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel
import TomboloLocalization

/// What servers do by themselves: the last run, the next, and what came of it. It's for those whom the rules permit to
/// `inspect`; running the purge takes what it always takes.
struct SchedulePages: PanelSection {
    static let path = "\(AdminPanel.path)/schedule"
    private static let template = PanelTemplate(PackageResources.schedule_mustache)

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let backingUp = RouteAccess.everyMatrix(of: models)
        panel.page(Self.path, entry: PanelEntry("Scheduled jobs", in: .system), access: .inspecting(models)) {
            request, model in
            let mayPurge =
                (try? ClassesGrant(
                    request.subject, .purge, ofAny: "objects", { Trash.classes(of: $0).map(\.name) }, by: model.rules))
                != nil
            let works = try await Schedule(request.core.pool).works(
                makesBackups: request.core.backups?.settings.interval != nil, now: request.now)
            let content = ScheduleContent(
                works, mayPurge: mayPurge, mayBackUp: backingUp.mayAdmit(request.subject), now: request.now)
            return .page(PanelPage(localized("Scheduled jobs"), content: Self.template.render(request.values(content))))
        }
    }
}
