import AdminService
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Empties the trash: first shows what will be deleted, then deletes a limited amount per request and shows the
/// progress.
struct EmptyingPages: PanelSection {
    private static let path = "\(TrashPages.path)/empty"
    private static let confirm = PanelTemplate(PackageResources.trash_confirm_mustache)
    private static let progress = PanelTemplate(PackageResources.trash_emptying_mustache)

    func add(to panel: PanelRoutes) {
        let access = TrashAccess(panel.core.rules).to(.purge)
        panel.page(Self.path, access: access) { request, grant in
            .page(try await confirmation(request, grant))
        }
        panel.action(Self.path, access: access, demands: .recentPassword) { request, grant in
            .page(try await empty(request, grant))
        }
    }

    private func confirmation(_ request: PanelRequest, _ grant: ClassesGrant) async throws -> PanelPage {
        let chosen = request.query("class")
        let view = TrashAccess.listing(grant)
        let groups = TrashGroups(
            schema: grant.rules.schema, hidden: grant.rules.hiddenColumns(grant.subject), pool: request.core.pool)
        let filters = try TrashAccess.filters(grant, of: chosen)
        let totals = try await groups.totals(filters: filters)
        guard totals.groups > 0 else {
            throw RequestFailure(.notFound, "There is nothing in the trash that you may delete permanently.")
        }
        let back = TrashPages.path + (chosen.map { "?class=\($0)" } ?? "")
        let kept = try await groups.kept(filters: filters, listing: view.filters)
        let lines = totals.counts.compactMap { part -> String? in
            let count = part.count - (kept.counts[part.className] ?? 0)
            return count > 0 ? Counted.objects(count, of: part.className) : nil
        }
        var content = TrashConfirmContent(
            lines: lines, action: Self.path, chosenClass: chosen,
            button: localized("Delete all of it permanently"), back: back)
        content.show(kept, grant.rules.schema)
        if lines.isEmpty {
            content.problem = TrashConfirmContent.Problem(
                message: localized("None of it can be deleted permanently yet: the app keeps it."), hint: nil)
        }
        let title = chosen.map { localized("Empty the trash of \(ClassTitle.words($0))?") }
        return PanelPage(
            title ?? localized("Empty the trash?"), crumbs: [TrashPages.crumb],
            content: Self.confirm.render(request.values(content)))
    }

    private func empty(_ request: PanelRequest, _ grant: ClassesGrant) async throws -> PanelPage {
        let chosen = request.form["class"].flatMap { $0.isEmpty ? nil : $0 }
        let filters = try TrashAccess.filters(grant, of: chosen)
        let trash = Trash(schema: grant.rules.schema, pool: request.core.pool)
        var done = EmptyingContent(request.fields)
        if done.total == 0 {
            let groups = TrashGroups(schema: grant.rules.schema, hidden: [:], pool: request.core.pool)
            done.total = try await groups.totals(filters: filters).groups
        }
        var cursor: TrashQueue.Cursor?
        if let text = request.form["after"] {
            cursor = TrashQueue.Cursor(text)
            guard cursor != nil else {
                throw RequestFailure(.badRequest, "The form doesn't say where to continue.", hint: "Start over.")
            }
        }
        let answer = try await TrashEmptying(trash: trash, filters: filters).empty(after: cursor)
        done.add(answer, chosen)
        return PanelPage(
            done.next == nil ? localized("The trash was emptied") : localized("Emptying the trash"),
            crumbs: [TrashPages.crumb],
            content: Self.progress.render(request.values(done)))
    }
}
