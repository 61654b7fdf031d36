import Foundation
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// New objects get what the list is filtered by: what is added to the sessions of an event belongs to that event.
extension RowsPage {
    /// Empty rows for callers who may make objects of a class whose ids are made for them, if the columns have everything
    /// that a new object needs.
    func newRows(_ fields: [ResourceField], _ list: ListRequest) -> [Row] {
        guard missingForNewRows(fields, list)?.isEmpty == true else { return [] }
        let row = Row(id: "", title: "", version: "", was: [:], entered: [:])
        return Array(repeating: row, count: Self.newRowCount)
    }

    /// What a new object needs and the columns haven't; nil for callers who may make none in any case.
    func missingForNewRows(_ fields: [ResourceField], _ list: ListRequest) -> [ResourceField]? {
        guard view.refusal(.create, type) == nil, EditPage.makesKeys(of: type) else { return nil }
        let known = Set(fields.map(\.name) + given(by: list).map { $0.field.field.name })
        return view.fields(of: type).filter { $0.isRequiredOnCreation && !known.contains($0.name) }
    }

    /// The rows with titles for the new ones: `New session 1`.
    func numbered(_ rows: [Row]) -> [Row] {
        let name = ClassTitle.inSentence(ClassTitle.singular(of: type))
        var rows = rows
        for (number, index) in rows.indices.filter({ rows[$0].isNew }).enumerated() {
            rows[index].title = "New \(name) \(number + 1)"
        }
        return rows
    }

    /// Makes the object of a new row.
    /// - Returns: its row; nil if nothing was entered.
    /// - Throws: ``RequestFailure`` if it's refused.
    func make(_ row: Row, _ fields: [ResourceField], _ list: ListRequest) async throws -> Row? {
        var values: [(field: FormField, value: JSON)] = []
        for field in fields.compactMap({ FormField($0) }) {
            let json = field.json(row.entered[field.field.name] ?? "", was: .null)
            if json != .null { values.append((field, json)) }
        }
        guard !values.isEmpty else { return nil }
        for (field, json) in given(by: list) where !values.contains(where: { $0.field.name == field.name }) {
            values.append((field, json))
        }
        let key = try edit.newKey("")
        _ = try await edit.create(edit.document(setting: values) ?? [:], key: key)
        let id = ResourceType.idText(key)
        return Row(id: id, title: id, version: "", was: [:], entered: row.entered)
    }

    /// The values that every object of the list has, because the list is filtered by them, and that the rules demand.
    private func given(by list: ListRequest) -> [(field: FormField, value: JSON)] {
        let filters = list.parameters.all.filter { $0.family == "filter" && $0.keys.count == 1 }
        let filtered: [(field: FormField, value: JSON)] = edit.fields.compactMap { field in
            guard let filter = filters.first(where: { $0.keys[0] == field.field.name }) else { return nil }
            let json = field.json(filter.value, was: .null)
            // A literal nil in a conditional expression would be JSON's null.
            guard json != .null else { return nil }
            return (field, json)
        }
        return filtered + edit.demanded.filter { one in !filtered.contains { $0.field.name == one.field.name } }
    }
}
