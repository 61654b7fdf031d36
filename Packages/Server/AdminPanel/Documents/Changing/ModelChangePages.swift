import AdminService
import HTTPTypes
import Hummingbird
import NIOCore
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloServerModel

/// Lets super administrators change the model and the rules of an app, if the operator has made a database user for it.
/// Both are edited as texts, or by small forms that edit the text. A plan shows what would happen; entering the
/// password applies it.
struct ModelChangePages: PanelSection {
    /// The page of the current change, or of the last one.
    static let runPath = "\(AdminPanel.path)/migration"
    /// How often a browser without JavaScript reloads it, in seconds.
    private static let refreshSeconds = 2
    private static let progress = PanelTemplate(PackageResources.model_run_mustache)
    private static let pattern = "\(AdminPanel.path)/models/{app}"

    static func path(of app: String) -> String { "\(AdminPanel.path)/models/\(app)" }

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models, let changes = panel.core.modelChanges else { return }
        let access = RouteAccess.everyMatrix(of: models)
        @Sendable func page(_ request: PanelRequest) async throws -> ModelChangePage {
            try Self.checkViewing(request)
            return try await ModelChangePage(request, changes)
        }
        panel.page(Self.pattern, access: access) { request, _ in .page(try await page(request).show()) }
        panel.page("\(Self.pattern)/download", access: access) { request, _ in
            .response(try await page(request).download())
        }
        panel.action("\(Self.pattern)/edit", access: access, bodyBytes: ModelChangeBounds.formBytes) { request, _ in
            .page(try await page(request).edit())
        }
        panel.action(
            "\(Self.pattern)/plan", access: access, bodyBytes: ModelChangeBounds.formBytes,
            timeout: ModelChangeBounds.planTimeout
        ) { request, _ in .page(try await page(request).plan()) }
        panel.action(
            "\(Self.pattern)/apply", access: access, demands: .recentPassword, bodyBytes: ModelChangeBounds.formBytes,
            timeout: ModelChangeBounds.planTimeout + changes.bounds.answerPatience
        ) { request, _ in
            let answer = try await page(request).apply()
            _ = try? await models.refresh()
            return answer
        }
        panel.page(Self.runPath, access: access) { request, _ in
            try Self.checkViewing(request)
            // Show the changes at once.
            _ = try? await models.refresh()
            return .page(Self.shown(request, changes))
        }
    }

    /// Refuses while the caller views the panel as somebody else. Who may view as whom depends on what they may read,
    /// and these pages are about everything.
    private static func checkViewing(_ request: PanelRequest) throws {
        guard let viewing = request.visit.viewing else { return }
        throw RequestFailure(
            .forbidden, "You are viewing the panel as \(viewing.title), who can't change models.",
            hint: "Stop viewing as \(viewing.title) first: the button is at the top of every page.")
    }

    private static func shown(_ request: PanelRequest, _ changes: ModelChanges) -> PanelPage {
        let content = ModelRunContent(changes.latest, by: request.userID.stringValue, now: request.now)
        var page = PanelPage(
            localized("Changing the model"), crumbs: [DocumentPages.crumb],
            content: progress.render(request.values(content)))
        if content.isOpen { page.refreshSeconds = refreshSeconds }
        return page
    }
}
