import AdminService
import TomboloHTTP
import TomboloLocalization
import TomboloServerModel

/// The log of requests: the latest of this server from memory, and those of all servers from the database. It's for
/// users whom the rules permit to `inspect`, because it tells what everybody asks for.
struct RequestPages: PanelSection {
    static let path = "\(AdminPanel.path)/requests"
    private static let template = PanelTemplate(PackageResources.requests_mustache)
    /// A log that covers more days is counted by day.
    private static let maximumDaysByHour = 7

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let (log, kept) = (panel.parts.requests, panel.parts.keptRequests)
        panel.page(Self.path, entry: PanelEntry("Requests", in: .system), access: .inspecting(models)) { request, _ in
            let wish = try await RequestWish(request, keepsDays: kept != nil)
            var content =
                if let kept, wish.range != .latest {
                    try await Self.content(kept, wish, now: request.now)
                } else {
                    RequestsContent(log, kept, wish, now: request.now)
                }
            let users = Set(content.entries.compactMap(\.userID))
            content.name(try await SyncDevices(request.core.pool).names(of: users))
            return .page(PanelPage(localized("Requests"), content: Self.template.render(request.values(content))))
        }
    }

    private static func content(_ kept: KeptRequests, _ wish: RequestWish, now: Int64) async throws -> RequestsContent {
        let days = wish.range == .day ? 1 : Int64(kept.days)
        let since = now - days * RequestChart.Unit.day.seconds * 1_000_000
        let unit: RequestChart.Unit = days > maximumDaysByHour ? .day : .hour
        let page = try await kept.page(wish.filter, since: since, after: wish.after)
        var spans: [RequestSpan]?
        do {
            spans = try await kept.spans(wish.filter, since: since, now: now, width: unit.seconds)
        } catch let failure as RequestFailure where failure.code == .unprocessable {
            // The list is useful without a chart.
        }
        return RequestsContent(kept, wish, page, spans: spans, by: unit, now: now)
    }
}
