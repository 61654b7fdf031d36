import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// The first page: the classes with how many objects of each the caller may see.
struct OverviewPages: PanelSection {
    private static let template = PanelTemplate(PackageResources.overview_mustache)
    /// Objects that are counted of a class: more take long, and nobody needs the number here.
    private static let countLimit = 10_000

    func add(to panel: PanelRoutes) {
        panel.page(AdminPanel.path, entry: PanelEntry("Overview", in: .start), access: .own("panel")) { request, _ in
            .page(try await page(request))
        }
    }

    private func page(_ request: PanelRequest) async throws -> PanelPage {
        let view = try request.view(under: request.core.rules.current)
        let reader = ResourceReader(view: view)
        var classes: [[String: Any]] = []
        for type in ClassPages.readable(view) {
            let count = try await reader.count(
                type, matching: .constant(true), limit: Self.countLimit + 1, request.core.pool)
            classes.append([
                "title": ClassTitle.plural(of: type), "path": ClassPages.path(of: type),
                "count": PanelNumber.text(count, limit: Self.countLimit),
            ])
        }
        return PanelPage(
            "Overview",
            content: Self.template.render(["classes": classes, "hasClasses": !classes.isEmpty]))
    }
}
