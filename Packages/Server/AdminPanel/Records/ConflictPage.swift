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

    func answer() async throws -> PanelAnswer {
        let record = try await edit.reader.record(edit.type, key: edit.page.key())
        let theirs = edit.content(of: record)
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
        let content = Self.template.render([
            "formToken": edit.request.visit.token.formToken, "action": edit.page.path, "rows": rows, "kept": kept,
            "version": theirs.version ?? "", "cancel": edit.page.path,
            "hasClash": rows.contains { $0["isClash"] as? Bool == true },
        ])
        return .page(
            PanelPage(
                "Somebody changed \(record.title) meanwhile", crumbs: edit.page.crumbs, content: content,
                status: .preconditionFailed))
    }
}
