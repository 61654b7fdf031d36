import AdminService
import Foundation
import PostgresClient
import PostgresValues
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// Asks for confirmation before an object is removed, shows what will be removed with it, and offers to undo if
/// possible.
struct RemovalPage {
    private static let template = PanelTemplate(PackageResources.removal_mustache)

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType

    private var page: RecordPage { RecordPage(request: request, view: view, type: type) }

    func answer() async throws -> PanelAnswer {
        let key = try page.key()
        let reader = RecordReader(view: view, pool: request.core.pool)
        let record = try await reader.record(type, key: key)
        // Don't reveal what would go along to callers who may not remove the object.
        let removal = JSONAPIRoutes.removal(of: type.item)
        if let denial = try await ResourceReader(view: view).refusal(removal, type, key: key, request.core.pool) {
            throw RequestFailure(denial)
        }
        var values: [String: Any] = [
            "formToken": request.visit.token.formToken, "action": "\(page.path)/delete", "cancel": page.path,
            "title": record.title, "version": record.resource.version ?? "", "isTrashable": type.item.isTrashable,
        ]
        if type.item.isTrashable {
            let trash = Trash(schema: view.schema, pool: request.core.pool)
            let prospect = try await trash.wouldTake(
                along: type.item.name, key, for: Trash.Restorer(subject: request.subject, rules: view.rules))
            let along = touched(prospect.counts)
            values["touched"] = along
            values["hasTouched"] = !along.isEmpty
            values["kept"] = prospect.keptBecause
            values["restorable"] = try await restorable()
            values["reason"] = Self.reasonField("")
        } else {
            let links: [[String: Any]] = try await reader.incoming(type, key: key).filter { $0.count != 0 }.map {
                [
                    "title": ClassTitle.plural(of: $0.link.type), "field": ClassTitle.words($0.link.field.name),
                    "count": PanelNumber.text($0.count, limit: RecordReader.countLimit),
                ]
            }
            values["links"] = links
            values["hasLinks"] = !links.isEmpty
        }
        return .page(
            PanelPage(
                type.item.isTrashable ? localized("Move to trash?") : localized("Delete permanently?"),
                crumbs: page.crumbs + [PanelPage.Crumb(title: record.title, path: page.path)],
                content: Self.template.render(values)))
    }

    /// How long objects of the class stay in the trash.
    private func restorable() async throws -> String {
        let purge = TrashPurge(schema: view.schema, pool: request.core.pool)
        guard let days = try await purge.retention().first(where: { $0.className == type.item.name })?.days else {
            return localized("It can be restored at any time.")
        }
        return localized(
            days, one: "It can be restored for \(days) day.", other: "It can be restored for \(days) days.")
    }

    /// The values for the field with a reason, prefilled with a text.
    static func reasonField(_ text: String) -> [String: Any] { ["limit": TrashReason.byteLimit, "text": text] }

    /// The objects that go into the trash along with it, by class; classes that the caller may not read aren't named.
    private func touched(_ counts: [String: Int]) -> [[String: Any]] {
        var counts = counts
        counts[type.item.name, default: 1] -= 1
        var others = 0
        var items: [[String: Any]] = []
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
            guard let found = view.types.all.first(where: { $0.item.name == name }), view.refusal(.read, found) == nil
            else {
                others += count
                continue
            }
            items.append(["title": ClassTitle.plural(of: found), "count": PanelNumber.text(count)])
        }
        if others > 0 {
            items.append(["title": localized("Objects that you may not see"), "count": PanelNumber.text(others)])
        }
        return items
    }

    /// Removes the object, if it's still as the page showed it.
    func remove() async throws -> PanelAnswer {
        let key = try page.key()
        // Irreversible removal requires the password.
        if type.item.isTrashable {
            try await request.demandPassword(changingClassAt: type.classIndex, under: view.rules)
        } else {
            try await request.demandPassword()
        }
        let reader = RecordReader(view: view, pool: request.core.pool)
        let record = try await reader.record(type, key: key)
        let version = request.form[EditPage.versionField] ?? ""
        let writer = ResourceWriter(view: view, moveToTrash: EditPage.move(request.core))
        let reason = try type.item.isTrashable ? TrashReason(request.form["reason"].map(JSON.string)) : nil
        do {
            try await request.core.pool.transaction { connection in
                try await writer.remove(type, key: key, ifMatch: "\"\(version)\"", because: reason, connection)
            }
        } catch var failure as RequestFailure where failure.code == .preconditionFailed {
            failure.message = localized("Somebody changed \(record.title) in the meantime, so it wasn't removed.")
            failure.hint = localized("Check it again before you continue.")
            throw failure
        }
        var notice = PanelNotice(
            type.item.isTrashable
                ? localized("\(record.title) was moved to the trash.")
                : localized("\(record.title) was deleted permanently.", context: "record"))
        if type.item.isTrashable, Trash.mayRestore(request.subject, type.item.name, under: view.rules),
            let group = try await group(of: key)
        {
            notice.undo = PanelNotice.Undo(
                label: localized("Restore"), path: "\(AdminPanel.path)/restore",
                fields: ["group": group, "next": page.path])
        }
        return .redirect(to: ClassPages.path(of: type), notice: notice)
    }

    /// The trash group that an object belongs to.
    private func group(of key: Value) async throws -> String? {
        let table = PostgresSQL.quoteIdentifier(type.item.table)
        let column = PostgresSQL.quoteIdentifier(type.key.sqlName)
        let found = try await request.core.pool.query(
            "SELECT trash_group::text FROM \(table) WHERE \(column) = $1 AND trashed_at IS NOT NULL",
            [try PostgresParameter(key, as: type.keyType)])
        return try found.first.flatMap { try $0[0].nonNull?.string }
    }

    /// Restores what a notice offered to restore.
    static func restore(_ request: PanelRequest, _ grant: ClassesGrant) async throws -> PanelAnswer {
        guard let group = request.form["group"].flatMap(UUID.init(uuidString:)) else {
            throw RequestFailure(.badRequest, "The form doesn't say what to restore.")
        }
        let trash = Trash(schema: grant.rules.schema, pool: request.core.pool)
        try await request.demandPassword(restoring: .group(group), in: trash, under: grant.rules)
        let count = try await trash.restore(group: group, by: request.subject, under: grant.rules)
        let next = PanelPath.checked(request.form["next"]) ?? AdminPanel.path
        let objects = Counted.objects(count)
        let text = localized(count, one: "\(objects) was restored.", other: "\(objects) were restored.")
        return .redirect(to: next, notice: PanelNotice(text))
    }
}
