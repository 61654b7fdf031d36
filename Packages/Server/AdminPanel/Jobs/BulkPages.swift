import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// Changes several objects of a list at once: asks what to do, shows a preview, and starts a job.
struct BulkPages: PanelSection {
    static let path = "\(AdminPanel.path)/bulk"

    static func path(of type: ResourceType) -> String { "\(path)/\(type.name)" }

    func add(to panel: PanelRoutes) {
        let access = ClassPages.access(localized("change or restore", context: "may …"), panel.core) {
            [.update, JSONAPIRoutes.removal(of: $0), .restore]
        }
        panel.action("\(Self.path)/{collection}", access: access, demands: .recentPasswordSometimes) { request, grant in
            let (view, type) = try ClassPages.found(request, grant)
            return try await BulkPage(request: request, view: view, type: type).answer()
        }
        // Reloading such a page, which a form led to, goes back to the list.
        panel.page("\(Self.path)/{collection}", access: access) { request, grant in
            let (view, type) = try ClassPages.found(request, grant)
            return .redirect(to: BulkPage(request: request, view: view, type: type).list)
        }
    }
}
