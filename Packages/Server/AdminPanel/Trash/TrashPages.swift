import AdminService
import Foundation
import HTTPTypes
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// The trash: its contents, restoring objects with what went into it along with them, deleting permanently, and
/// emptying.
struct TrashPages: PanelSection {
    static let path = "\(AdminPanel.path)/trash"
    private static let list = PanelTemplate(PackageResources.trash_mustache)
    private static let group = PanelTemplate(PackageResources.trash_group_mustache)
    private static let confirm = PanelTemplate(PackageResources.trash_confirm_mustache)
    static var crumb: PanelPage.Crumb { PanelPage.Crumb(title: localized("Trash"), path: path) }

    func add(to panel: PanelRoutes) {
        let access = TrashAccess(panel.core.rules)
        panel.page(Self.path, entry: PanelEntry("Trash", in: .work), access: access.to(.listTrash)) { request, grant in
            try await list(request, grant)
        }
        panel.page("\(Self.path)/group/{id}", access: access.to(.listTrash)) { request, grant in
            .page(try await page(request, TrashAccess.listing(grant)))
        }
        panel.page("\(Self.path)/object/{id}", access: access.to(.listTrash)) { request, grant in
            guard let object = try? TrashAddress(request.parameter("id")),
                let address = try await groups(request, TrashAccess.listing(grant)).address(
                    of: object, filters: grant.filters)
            else { throw Self.nothing }
            return .redirect(to: Self.path(of: address))
        }
        panel.action(
            "\(Self.path)/group/{id}/restore", access: access.to(.restore), demands: .recentPasswordSometimes
        ) { request, grant in try await restore(request, grant) }
        panel.page("\(Self.path)/group/{id}/delete", access: access.to(.purge)) { request, grant in
            .page(try await confirmation(request, grant))
        }
        panel.action(
            "\(Self.path)/group/{id}/delete", access: access.to(.purge), demands: .recentPassword
        ) { request, grant in
            try await delete(request, grant)
        }
    }

    /// The page of a group.
    static func path(of address: String) -> String { "\(path)/group/\(RequestParameters.encode(address))" }

    static var nothing: RequestFailure {
        RequestFailure(
            .notFound, "There is nothing in the trash at this address.",
            hint: "Somebody may have restored it or deleted it permanently. The trash lists what there is.")
    }

    private func groups(_ request: PanelRequest, _ view: TrashView) -> TrashGroups {
        TrashGroups(
            schema: view.rules.schema, hidden: view.rules.hiddenColumns(view.subject), pool: request.core.pool)
    }

    // MARK: Looking

    private func list(_ request: PanelRequest, _ grant: ClassesGrant) async throws -> PanelAnswer {
        let page = try request.pageNumber()
        let chosen = request.query("class")
        let filters = try TrashAccess.filters(grant, of: chosen)
        let view = TrashAccess.listing(grant)
        let found = try await groups(request, view).page(page, filters: filters)
        let mayPurge = filters.keys.contains { TrashAccess.may(.purge, $0, view) }
        let content = TrashContent(
            found, grant.rules.schema, classNames: grant.filters.keys.sorted(), chosen: chosen, page: page,
            mayPurge: mayPurge, restoreAll: try restoreAll(chosen, request, view), now: request.now)
        return .page(PanelPage(localized("Trash"), content: Self.list.render(request.values(content))))
    }

    /// The page that restores all objects of a class at once.
    private func restoreAll(_ chosen: String?, _ request: PanelRequest, _ view: TrashView) throws -> String? {
        guard let chosen, TrashAccess.may(.restore, chosen, view),
            let index = view.rules.schema.index(of: chosen)
        else { return nil }
        return try request.core.types(of: view.rules.schema)[index].map(BulkPages.path)
    }

    private func entry(_ request: PanelRequest, _ view: TrashView) async throws -> TrashGroups.Entry {
        let groups = groups(request, view)
        let text = try TrashAddress(request.parameter("id")).text
        guard let entry = try await groups.page(1, filters: view.filters, only: text).entries.first else {
            throw Self.nothing
        }
        return entry
    }

    private func page(
        _ request: PanelRequest, _ view: TrashView, after failure: RequestFailure? = nil,
        clashes: RequestFailure? = nil
    ) async throws -> PanelPage {
        let entry = try await entry(request, view)
        let members = try await groups(request, view).members(
            of: TrashAddress(entry.address), filters: view.filters)
        let names = entry.counts.map(\.className)
        var content = TrashGroupContent(
            entry, members, view.rules.schema,
            mayRestore: names.allSatisfy { TrashAccess.may(.restore, $0, view) },
            mayPurge: names.allSatisfy { TrashAccess.may(.purge, $0, view) }, now: request.now)
        if let failure {
            let rows = Dictionary(
                members.map { (TrashAddress($0.className, $0.key), $0.row) }, uniquingKeysWith: { first, _ in first })
            content.show(failure, clashes: clashes, RestoreForm(request.form.content), view.rules.schema, rows)
        }
        return PanelPage(
            content.title, crumbs: [Self.crumb], content: Self.group.render(request.values(content)),
            status: failure?.code.status ?? .ok)
    }

    // MARK: Restoring

    private func restore(_ request: PanelRequest, _ grant: ClassesGrant) async throws -> PanelAnswer {
        let schema = grant.rules.schema
        let address = try TrashAddress(request.parameter("id"))
        let trash = Trash(schema: schema, pool: request.core.pool)
        let restorer = Trash.Restorer(subject: grant.subject, rules: grant.rules)
        try await request.demandPassword(restoring: address, in: trash, under: grant.rules)
        do {
            let wishes = try RestoreForm(request.form.content).wishes(schema)
            let restored = try await trash.restore(address, wishes, by: restorer)
            let objects = Counted.objects(restored.count)
            let words = localized(
                restored.count, one: "\(objects) was restored.", other: "\(objects) were restored.")
            return .redirect(to: Self.path, notice: PanelNotice(words))
        } catch let failure as RequestFailure where [.conflict, .unprocessable].contains(failure.code) {
            // The choices are shown on the page that asked.
            let clashes = failure.code == .conflict ? failure : try await trash.clashes(at: address, by: restorer)
            return .page(
                try await page(request, TrashAccess.listing(grant), after: failure, clashes: clashes))
        }
    }

    // MARK: Deleting permanently

    private func confirmation(_ request: PanelRequest, _ grant: ClassesGrant) async throws -> PanelPage {
        let entry = try await entry(request, TrashAccess.listing(grant))
        let line = TrashContent.Entry(entry, grant.rules.schema, now: request.now)
        var content = TrashConfirmContent(
            lines: entry.counts.map { Counted.objects($0.count, of: $0.className) },
            action: "\(Self.path(of: entry.address))/delete", button: localized("Delete permanently"),
            back: Self.path(of: entry.address))
        if entry.count == 1 {
            content.lines = [localized("the \(ClassTitle.inSentence(line.className)) \(line.title)")]
        }
        let refusal = try await Trash(schema: grant.rules.schema, pool: request.core.pool).refusalToPurge(
            TrashAddress(entry.address), by: Trash.Restorer(subject: grant.subject, rules: grant.rules))
        content.problem = refusal.map { TrashConfirmContent.Problem(message: $0.message, hint: $0.shownHint) }
        return PanelPage(
            localized("Delete \(line.title) permanently?"),
            crumbs: [Self.crumb, PanelPage.Crumb(title: line.title, path: content.back)],
            content: Self.confirm.render(request.values(content)))
    }

    private func delete(_ request: PanelRequest, _ grant: ClassesGrant) async throws -> PanelAnswer {
        let purged = try await Trash(schema: grant.rules.schema, pool: request.core.pool).purge(
            try TrashAddress(request.parameter("id")),
            by: Trash.Restorer(subject: grant.subject, rules: grant.rules))
        let objects = Counted.objects(purged.count)
        let words = localized(
            purged.count, one: "\(objects) was deleted permanently.", other: "\(objects) were deleted permanently.")
        return .redirect(to: Self.path, notice: PanelNotice(words))
    }
}
