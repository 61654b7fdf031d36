import AdminService
import TomboloHTTP
import TomboloServerModel
import TomboloLocalization

/// The latest requests of this server: all, the slow ones, those that failed. It's for those whom the rules permit to
/// `inspect`: it tells who asks for what, of everybody.
struct RequestPages: PanelSection {
    static let path = "\(AdminPanel.path)/requests"
    private static let template = PanelTemplate(PackageResources.requests_mustache)

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let log = panel.parts.requests
        panel.page(Self.path, entry: PanelEntry("Requests", in: .system), access: .inspecting(models)) { request, _ in
            let page = try request.pageNumber(limit: RequestsContent.maximumPage)
            let kind = try request.query("show").map { text in
                guard let kind = RequestLog.Kind(rawValue: text) else {
                    throw RequestFailure(.badRequest, "'show' must be all, slow or failed.")
                }
                return kind
            }
            var content = RequestsContent(log, kind ?? .all, page: page, now: request.now)
            let users = Set(content.entries.compactMap(\.userID))
            content.name(try await SyncDevices(request.core.pool).names(of: users))
            return .page(PanelPage(localized("Requests"), content: Self.template.render(request.values(content))))
        }
    }
}
