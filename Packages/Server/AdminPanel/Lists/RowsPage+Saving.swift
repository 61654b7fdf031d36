import Foundation
import HTTPTypes
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

extension RowsPage {
    /// Rows that a form can have.
    private static let maximumCount = maximumRowCount + newRowCount

    func save() async throws -> PanelAnswer {
        let list = try ListRequest(request, type, view)
        let fields = Self.fields(list)
        var rows = try sent(fields)
        var saved = 0
        for index in rows.indices {
            do {
                if rows[index].isNew {
                    guard let made = try await make(rows[index], fields, list) else { continue }
                    rows[index] = made
                } else {
                    guard let document = document(rows[index], fields), let key = type.keyValue(rows[index].id) else {
                        continue
                    }
                    try await edit.update(document, key: key, version: rows[index].version)
                }
                saved += 1
                rows[index] = try await current(rows[index], fields)
            } catch let failure as RequestFailure {
                rows[index] = try await refused(rows[index], fields, failure)
            }
        }
        // What was made and can't be seen has no version, and can't be edited either.
        rows.removeAll { !$0.isNew && $0.version.isEmpty && $0.problems.isEmpty }
        guard rows.contains(where: { !$0.problems.isEmpty }) else {
            let text =
                saved == 0
                ? "Nothing was changed." : "\(Counted.objects(saved, of: type.item.name)) \(Counted.were(saved)) saved."
            return .redirect(to: ClassPages.path(of: type) + query, notice: PanelNotice(text))
        }
        return .page(try await shown(rows, fields, list, saved: saved))
    }

    private func sent(_ fields: [ResourceField]) throws -> [Row] {
        let form = FormValues(request.form)
        guard let count = form[Self.countField].flatMap(Int.init), (0...Self.maximumCount).contains(count) else {
            throw RequestFailure(
                .badRequest, "The form doesn't say how many rows it has, or they're more than \(Self.maximumCount).",
                hint: "Load the list again.")
        }
        return (0..<count).compactMap { number in
            guard let id = form["i.\(number)"], let version = form["v.\(number)"] else { return nil }
            var row = Row(id: id, title: id, version: version, was: [:], entered: [:])
            for field in fields {
                let control = FormField(field, at: "\(number).\(field.name)")
                row.was[field.name] = FormField.value(control.flatMap { form[$0.wasName] })
                row.entered[field.name] = control.flatMap { form[$0.name] }
            }
            return row
        }
    }

    /// The resource object of what was changed in a row; nil if nothing was.
    private func document(_ row: Row, _ fields: [ResourceField]) -> JSON? {
        edit.document(
            setting: fields.compactMap { field in
                guard let control = FormField(field), let entered = row.entered[field.name] else { return nil }
                let was = row.was[field.name] ?? .null
                let json = control.json(entered, was: was)
                return json == was ? nil : (control, json)
            })
    }

    /// A row as it is now, or as it was sent if it can't be seen any more.
    private func current(_ row: Row, _ fields: [ResourceField]) async throws -> Row {
        guard let key = type.keyValue(row.id),
            let found = try await ResourceReader(view: view).single(type, key: key, ResourceQuery(), request.core.pool)
        else { return row }
        return self.row(try PanelResource(found.resource), fields)
    }

    /// A row that wasn't saved: with what was entered, and for the next try with the version that it has now.
    private func refused(_ row: Row, _ fields: [ResourceField], _ failure: RequestFailure) async throws -> Row {
        var result = row.isNew ? row : try await current(row, fields)
        result.entered = row.entered
        result.problems = [failure] + failure.others
        guard failure.code == .preconditionFailed else { return result }
        result.problems = [
            RequestFailure(
                .preconditionFailed, "Somebody changed it meanwhile.",
                hint: "Look at what it is now. Saving again writes what you have entered.")
        ]
        for field in fields.compactMap({ FormField($0) }) {
            let name = field.field.name
            let (was, now) = (row.was[name] ?? .null, result.was[name] ?? .null)
            guard was != now else { continue }
            // What only somebody else changed is theirs.
            if row.entered[name] == field.text(was) {
                result.entered[name] = field.text(now)
            } else {
                result.theirs[name] = CellText.value(now, field.field)["text"] as? String ?? ""
            }
        }
        return result
    }
}
