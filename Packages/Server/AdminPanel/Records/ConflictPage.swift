import AdminService
import HTTPTypes
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// What somebody sees who saves an object that somebody else has changed meanwhile: for each field what it was, what it is
/// now, and what they entered, and a choice where both changed it.
struct ConflictPage {
    private static let template = PanelTemplate(PackageResources.conflict_mustache)

    let edit: EditPage
    /// What was sent.
    let mine: EditPage.Content

    /// An embedded object by its members, or a list by its elements, with marks at what wasn't there before.
    private func lines(_ json: JSON, _ part: FormPart, since was: JSON?) async throws -> [[String: Any]] {
        func line(_ text: String, isNew: Bool) -> [String: Any] { ["text": text, "isNew": isNew] }
        switch part.kind {
        case .control, .tuple: return [line(CellText.plain(json), isNew: false)]
        case .object(let fields, _):
            return fields.compactMap { field in
                guard let value = json[field.name], value != .null else { return nil }
                let text = CellText.object([field.name: value], [field])
                return line(text, isNew: was.map { $0[field.name] != value } ?? false)
            }
        case .links(let index):
            let ids = json.items.compactMap(\.text)
            var titles: [String: String] = [:]
            if let target = edit.view.types[index] {
                titles = try await FormChoices().titles(of: target, among: ids, edit.reader)
            }
            return ids.map { line(titles[$0] ?? $0, isNew: Self.isNew(.string($0), since: was)) }
        case .values: return json.items.map { line(CellText.plain($0), isNew: Self.isNew($0, since: was)) }
        case .objects(_, let fields):
            return json.items.map { line(CellText.object($0, fields), isNew: Self.isNew($0, since: was)) }
        }
    }

    /// An embedded object or a list in one line.
    func text(_ json: JSON, _ part: FormPart) async throws -> String {
        let lines = try await lines(json, part, since: nil).compactMap { $0["text"] as? String }
        return lines.isEmpty ? "none" : lines.joined(separator: "; ")
    }

    private static func isNew(_ element: JSON, since was: JSON?) -> Bool {
        was.map { !$0.items.contains(element) } ?? false
    }

    func answer() async throws -> PanelAnswer {
        let record = try await edit.reader.record(edit.type, key: edit.page.key())
        let theirs = edit.content(of: record.resource)
        var rows: [[String: Any]] = []
        var kept: [[String: Any]] = []
        for field in edit.fields {
            let name = field.field.name
            let (was, now) = (mine.was[name] ?? .null, theirs.was[name] ?? .null)
            let own = mine.entered[name].map { field.json($0, was: was) } ?? was
            kept.append(["name": field.wasName, "value": CellText.compact(now)])
            let (isMine, isTheirs) = (own != was, now != was)
            guard isMine || isTheirs else { continue }
            var row: [String: Any] = [
                "label": field.title, "name": field.name, "id": "f-\(name)",
                "was": try await edit.text(was, field), "now": try await edit.text(now, field),
                "own": try await edit.text(own, field),
                "nowValue": field.text(now), "ownValue": field.text(own),
            ]
            // Who changed a field alone gets their way unless they say otherwise; where both did, somebody has to choose.
            if isMine, isTheirs, own != now {
                row["isClash"] = true
            } else {
                row["picksOwn"] = isMine
            }
            rows.append(row)
        }
        for part in edit.parts {
            guard let own = edit.changed(part, mine) ?? mine.was[part.field.name] else { continue }
            let name = part.field.name
            let (was, now) = (mine.was[name] ?? .null, theirs.was[name] ?? .null)
            kept.append(["name": EditPage.wasName(part), "value": CellText.compact(now)])
            let (isMine, isTheirs) = (own != was, now != was)
            guard isMine || isTheirs else { continue }
            var row: [String: Any] = [
                "label": part.title, "name": FormValues.whole(name), "id": "f-\(name)", "isLines": true,
                "wasLines": try await lines(was, part, since: nil), "nowLines": try await lines(now, part, since: was),
                "ownLines": try await lines(own, part, since: was),
                "nowValue": CellText.compact(now), "ownValue": CellText.compact(own),
            ]
            if isMine, isTheirs, own != now { row["isClash"] = true } else { row["picksOwn"] = isMine }
            rows.append(row)
        }
        let authors = await authors(of: theirs)
        var values: [String: Any] = [
            "formToken": edit.request.visit.token.formToken, "action": edit.page.path, "rows": rows, "kept": kept,
            "version": theirs.version ?? "", "cancel": edit.page.path,
            "lost": mine.bytes.keys.sorted().map(ClassTitle.words).joined(separator: ", "),
            "isLost": !mine.bytes.isEmpty,
            "hasClash": rows.contains { $0["isClash"] as? Bool == true },
            "authors": authors, "hasAuthors": !authors.isEmpty,
        ]
        if edit.view.refusal(.audit, edit.type) == nil {
            values["history"] = AuditPages.path(collection: edit.type.item.collectionName, key: record.resource.id)
        }
        return .page(
            PanelPage(
                "Somebody changed \(record.title) meanwhile", crumbs: edit.page.crumbs,
                content: Self.template.render(values), status: .preconditionFailed))
    }
}
