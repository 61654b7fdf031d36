import HTTPTypes
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloLocalization

extension RowsPage {
    func save() async throws -> PanelAnswer {
        let list = try ListRequest(request, type, view)
        let table = table(list)
        var rows = try table.sent()
        if rows.contains(where: { table.document($0) != nil }) { try await edit.demandPassword() }
        var saved = 0
        for index in rows.indices {
            do {
                guard let row = try await write(rows[index], at: index, table) else { continue }
                saved += 1
                rows[index] = row
            } catch let failure as RequestFailure {
                rows[index] = table.refused(rows[index], failure, now: try await current(rows[index].id))
                // The object already has the values that were entered.
                if rows[index].problems.isEmpty { saved += 1 }
            }
        }
        // A new object that the caller can't see has no version, so it can't be edited either.
        rows.removeAll { !$0.isNew && $0.version.isEmpty && $0.problems.isEmpty }
        guard rows.contains(where: { !$0.problems.isEmpty }) else {
            let text = saved == 0 ? localized("Nothing was changed.") : savedText(saved)
            return .redirect(to: ClassPages.path(of: type) + query, notice: PanelNotice(text))
        }
        let isCut =
            rows.count { !$0.isNew } == RowsTable.maximumRowCount && list.query.page.size > RowsTable.maximumRowCount
        return .page(try await shown(rows, table, list, isCut: isCut, saved: saved))
    }

    /// Saves the values entered in a row.
    /// - Returns: the row after saving; nil if nothing was entered.
    /// - Throws: ``RequestFailure`` if the change is refused.
    private func write(_ row: RowsTable.Row, at number: Int, _ table: RowsTable) async throws -> RowsTable.Row? {
        guard let document = table.document(row) else { return nil }
        var id = row.id
        if row.isNew {
            let key = edit.keys.key(of: type, at: table.path(number), document)
            do {
                _ = try await edit.create(document, key: key)
            } catch let failure as RequestFailure {
                guard try await edit.isMade(key) else { throw failure }
            }
            id = key.keyText
        } else {
            guard let key = type.keyValue(id) else { return nil }
            try await edit.update(document, key: key, version: row.version)
        }
        if let now = try await current(id) { return table.row(now) }
        return RowsTable.Row(id: id, title: id, version: "", was: [:], entered: row.entered)
    }

    /// The object's current state; nil if the caller can't see it.
    private func current(_ id: String) async throws -> PanelResource? {
        guard let key = type.keyValue(id) else { return nil }
        let found = try await ResourceReader(view: view).single(type, key: key, ResourceQuery(), request.core.pool)
        return try found.map { try PanelResource($0.resource) }
    }
}
