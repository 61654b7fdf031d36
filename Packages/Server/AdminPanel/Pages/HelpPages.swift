import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization

/// How to use the panel, with and without a mouse.
struct HelpPages: PanelSection {
    private static let template = PanelTemplate(PackageResources.help_mustache)

    func add(to panel: PanelRoutes) {
        panel.page(
            "\(AdminPanel.path)/help", entry: PanelEntry("Help", in: .system), access: .own(localized("panel"))
        ) { _, _ in
            .page(
                PanelPage(
                    localized("Help"),
                    content: Self.template.render([
                        "minutes": Int(PanelDemand.minutes), "idleHours": Int(PanelSession.idleSeconds / 3_600),
                        "hours": Int(PanelSession.lifetimeSeconds / 3_600),
                    ])))
        }
    }
}
