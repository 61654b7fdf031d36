import AdminService
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// Finds out who made the changes of a conflict, for callers who may read the audit log.
extension ConflictPage {
    /// The maximum number of rows whose authors are looked up.
    private static let maximumRowCount = 10

    /// Both are empty for callers who may not read the log.
    struct Authors {
        /// For the template, newest first: `who`, `at`, `time` and the changed `fields`.
        var known: [[String: Any]] = []
        /// The fields whose author isn't in the log yet: it's about a second behind.
        var unknown: [String] = []
    }

    private typealias Change = (field: ResourceField, title: String, was: JSON, now: JSON)

    func authors(of theirs: EditPage.Content) async -> Authors {
        let changes = edit.view.fields(of: edit.type).compactMap { field -> Change? in
            guard let was = mine.was[field.name], let now = theirs.was[field.name] else { return nil }
            return (field, ClassTitle.words(field.name), was, now)
        }
        var authors = Authors()
        await find(changes, of: edit.type, id: edit.request.parameter("id"), &authors)
        guard let children else { return authors }
        for row in staleRows(children).prefix(Self.maximumRowCount) {
            let changes = children.table.fields.compactMap { field -> Change? in
                guard let was = row.mine.was[field.name], let now = row.theirs.was[field.name] else { return nil }
                return (field, Self.title(field, of: row, children), was, now)
            }
            await find(changes, of: children.type, id: row.theirs.id, &authors)
        }
        return authors
    }

    /// Adds the authors of an object's changes.
    private func find(_ changes: [Change], of type: ResourceType, id: String, _ authors: inout Authors) async {
        let view = edit.view
        guard changes.contains(where: { !$0.field.isSame($0.was, $0.now) }), view.refusal(.audit, type) == nil,
            let grant = AuditLog.grant(view.subject, by: view.rules),
            // If the log can't be read in time, saving goes on without it.
            let page = try? await AuditLog(pool: edit.request.core.pool).page([], object: (type.item.name, id), grant)
        else { return }
        let entries = page["items"]?.items ?? []
        var fields: [Int: [String]] = [:]
        for change in changes where !change.field.isSame(change.was, change.now) {
            let places = Set(self.changes(of: change.field, change.was, change.now, among: entries))
            for place in places { fields[place, default: []].append(change.title) }
            if places.isEmpty { authors.unknown.append(change.title) }
        }
        authors.known += fields.sorted { $0.key < $1.key }.map { place, fields in
            [
                "who": AuditText.who(entries[place]), "at": AuditText.text(entries[place]["at"]) ?? "",
                "time": CellText.time(AuditText.text(entries[place]["at"]) ?? ""),
                "fields": fields.joined(separator: ", "),
            ]
        }
    }

    /// The indices of the entries that gave a field its current value. An entry counts only if it has that value:
    /// entries older than the form aren't part of the conflict.
    private func changes(of field: ResourceField, _ was: JSON, _ now: JSON, among entries: [JSON]) -> [Int] {
        guard !field.isSame(was, now) else { return [] }
        switch field.content {
        case .value, .toOne:
            let last = entries.firstIndex { $0["list"] == nil && $0["after"]?[field.property] != nil }
            guard let last, let value = entries[last]["after"]?[field.property], field.isSame(value, now) else {
                return []
            }
            return [last]
        case .embedded(_, let fields):
            return fields.flatMap { inner in
                changes(of: inner, was[inner.name] ?? .null, now[inner.name] ?? .null, among: entries)
            }
        case .values(let elements, _), .toMany(let elements, _):
            return changes(of: edit.view.schema[elements], was.items, now.items, among: entries)
        case .array, .objects: return []
        }
    }

    /// The indices of the entries that added elements to a list of values or links, or removed them from it.
    private func changes(of list: ClassSchema, _ was: [JSON], _ now: [JSON], among entries: [JSON]) -> [Int] {
        let name = list.columns[ElementColumn.content].name
        return entries.indices.filter { place in
            let entry = entries[place]
            guard entry["list"] == .string(list.name) else { return false }
            let isAdded = entry["after"]?[name].map { now.contains($0) && !was.contains($0) } ?? false
            let isRemoved = entry["before"]?[name].map { was.contains($0) && !now.contains($0) } ?? false
            return isAdded || isRemoved
        }
    }
}
