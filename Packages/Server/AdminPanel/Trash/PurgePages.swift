import AdminService
import TomboloHTTP
import TomboloRules
import TomboloLocalization

/// The automatic purge: its runs, what it kept and why, what it would delete now, and running it.
struct PurgePages: PanelSection {
    static let path = "\(TrashPages.path)/purge"
    private static let template = PanelTemplate(PackageResources.trash_purge_mustache)

    func add(to panel: PanelRoutes) {
        let access = TrashAccess(panel.core.rules).to(.purge)
        panel.page(Self.path, access: access) { request, grant in
            .page(try await page(request, grant, isPreview: false))
        }
        panel.page("\(Self.path)/preview", access: access) { request, grant in
            .page(try await page(request, grant, isPreview: true))
        }
        panel.action(Self.path, access: access, demands: .recentPassword) { request, grant in
            try await run(request, grant)
        }
    }

    private func page(_ request: PanelRequest, _ grant: ClassesGrant, isPreview: Bool) async throws -> PanelPage {
        let purge = TrashPurge(schema: grant.rules.schema, pool: request.core.pool)
        let content = PurgeContent(
            history: try await purge.history(), retention: try await purge.retention(),
            preview: isPreview ? try await purge.preview(now: request.now) : nil)
        return PanelPage(
            localized("Automatic purge"), crumbs: [TrashPages.crumb],
            content: Self.template.render(request.values(content)))
    }

    private func run(_ request: PanelRequest, _ grant: ClassesGrant) async throws -> PanelAnswer {
        let purge = TrashPurge(schema: grant.rules.schema, pool: request.core.pool)
        guard let report = try await purge.run(now: request.now) else {
            throw RequestFailure(
                .conflict, "Another process is purging the trash.", hint: "The list of runs shows its run.")
        }
        var words = EmptyingContent.deleted(report.objects, inGroups: report.groups)
        if report.kept + report.failed > 0 {
            words = localized("\(words) What couldn't be deleted is listed below.")
        }
        return .redirect(to: Self.path, notice: PanelNotice(words))
    }
}
