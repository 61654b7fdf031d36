import AdminService
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// Who made the changes that a conflict is about, for callers who may read the audit log.
extension ConflictPage {
    /// For the template, newest first: `who`, `at`, `time` and the `fields` that somebody changed. Empty for callers who may
    /// not read the log, and as long as the log hasn't the changes: it's about a second behind.
    func authors(of theirs: EditPage.Content) async -> [[String: Any]] {
        let (view, type) = (edit.view, edit.type)
        guard view.refusal(.audit, type) == nil, let grant = AuditLog.grant(view.subject, by: view.rules),
            // A log that can't be read in time keeps nobody from saving.
            let page = try? await AuditLog(pool: edit.request.core.pool).page(
                [], object: (type.item.name, edit.request.parameter("id")), grant)
        else { return [] }
        let entries = page["items"]?.items ?? []
        var fields: [Int: [String]] = [:]
        for field in view.fields(of: type) {
            guard let was = mine.was[field.name], let now = theirs.was[field.name] else { continue }
            for place in Set(changes(of: field, was, now, among: entries)) {
                fields[place, default: []].append(ClassTitle.words(field.name))
            }
        }
        return fields.sorted { $0.key < $1.key }.map { place, fields in
            [
                "who": AuditText.who(entries[place]), "at": AuditText.text(entries[place]["at"]) ?? "",
                "time": CellText.time(AuditText.text(entries[place]["at"]) ?? ""),
                "fields": fields.joined(separator: ", "),
            ]
        }
    }

    /// The entries that made of a field what it is now, by their places. An entry counts only if it has the value that is
    /// there: what is older than the form isn't about the conflict.
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

    /// The entries that added elements to a list of values or links, and removed them from it.
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
