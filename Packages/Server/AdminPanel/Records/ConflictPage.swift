import AdminService
import HTTPTypes
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// The page shown when somebody saves an object that somebody else has changed in the meantime. For each field, it
/// shows the original, the current and the entered value, and offers a choice between the last two.
struct ConflictPage {
    private static let template = PanelTemplate(PackageResources.conflict_mustache)

    let edit: EditPage
    /// The submitted content.
    let mine: EditPage.Content
    /// The form's rows as ``ChildRows/lock(_:)`` left them; nil if it has none.
    var children: ChildRows?

    /// The lines for an embedded object's members or a list's elements. New ones are marked.
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
            var titles = ChoiceTitles()
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
        return lines.isEmpty ? localized("none") : lines.joined(separator: "; ")
    }

    private static func isNew(_ element: JSON, since was: JSON?) -> Bool {
        was.map { !$0.items.contains(element) } ?? false
    }

    // MARK: Choices

    /// The original, current and entered value of a field, as JSON.
    struct Values {
        let was, now, own: JSON
        var isMine: Bool { own != was }
        var isTheirs: Bool { now != was }
        var isClash: Bool { isMine && isTheirs && own != now }
    }

    /// The choice between the current and the entered value of a field; nil if neither differs from the original.
    /// - Parameters:
    ///   - edit: the edit page of the class that has the field.
    ///   - title: the heading of the choice.
    func choice(_ field: FormField, _ values: Values, in edit: EditPage, title: String) async throws -> [String: Any]? {
        var texts: [String: Any] = ["id": "f-\(field.path)"]
        texts["was"] = try await edit.text(values.was, field)
        texts["now"] = try await edit.text(values.now, field)
        texts["own"] = try await edit.text(values.own, field)
        let (now, own) = (field.text(values.now), field.text(values.own))
        return choice(values, title: title, name: field.name, now: now, own: own, texts)
    }

    private func choice(_ part: FormPart, _ values: Values) async throws -> [String: Any]? {
        var texts: [String: Any] = ["id": "f-\(part.field.name)", "isLines": true]
        texts["wasLines"] = try await lines(values.was, part, since: nil)
        texts["nowLines"] = try await lines(values.now, part, since: values.was)
        texts["ownLines"] = try await lines(values.own, part, since: values.was)
        let (now, own) = (CellText.compact(values.now), CellText.compact(values.own))
        return choice(values, title: part.title, name: FormValues.whole(part.field.name), now: now, own: own, texts)
    }

    private func choice(
        _ values: Values, title: String, name: String, now: String, own: String, _ texts: [String: Any]
    ) -> [String: Any]? {
        guard values.isMine || values.isTheirs else { return nil }
        var choice: [String: Any] = ["label": title, "name": name, "nowValue": now, "ownValue": own]
        // A change by one side only is preselected. If both changed the field, somebody has to choose.
        if values.isClash { choice["isClash"] = true } else { choice["picksOwn"] = values.isMine }
        return choice.merging(texts) { first, _ in first }
    }

    /// A hidden field of a form.
    static func hidden(_ name: String, _ value: String) -> [String: Any] { ["name": name, "value": value] }

    // MARK: The page

    func answer() async throws -> PanelAnswer {
        let record = try await edit.reader.record(edit.type, key: edit.page.key())
        let theirs = edit.content(of: record.resource)
        var choices: [[String: Any]] = []
        var kept = [Self.hidden(FormKeys.field, edit.keys.seed.stringValue)]
        var gone: [RequestFailure] = []
        for field in edit.fields {
            let name = field.field.name
            let (was, now) = (mine.was[name] ?? .null, theirs.was[name] ?? .null)
            let own = mine.entered[name].map { field.json($0, was: was) } ?? was
            kept.append(Self.hidden(field.wasName, CellText.compact(now)))
            if let choice = try await choice(
                field, Values(was: was, now: now, own: own), in: edit, title: field.title)
            {
                choices.append(choice)
            } else {
                kept.append(Self.hidden(field.name, field.text(now)))
            }
        }
        for part in edit.parts {
            guard let own = edit.changed(part, mine) ?? mine.was[part.field.name] else { continue }
            let name = part.field.name
            // There is no choice for what has become too long for a form; it stays as it is.
            guard let now = theirs.was[name] else {
                if edit.changed(part, mine) != nil { gone.append(EditPage.tooLong(part)) }
                continue
            }
            let was = mine.was[name] ?? .null
            kept.append(Self.hidden(EditPage.wasName(part), CellText.compact(now)))
            if let choice = try await choice(part, Values(was: was, now: now, own: own)) { choices.append(choice) }
        }
        if let children {
            choices += try await self.choices(of: children)
            kept += hidden(children)
        }
        let authors = await authors(of: theirs)
        var values: [String: Any] = [
            "formToken": edit.request.visit.token.formToken, "action": edit.action(mine, isNew: false),
            "rows": choices, "kept": kept, "version": theirs.version ?? "", "cancel": edit.page.path,
            "lost": mine.bytes.keys.sorted().map(ClassTitle.words).joined(separator: ", "),
            "isLost": !mine.bytes.isEmpty,
            "gone": gone.map { ["text": [$0.message, $0.hint].compactMap(\.self).joined(separator: " ")] },
            "hasClash": choices.contains { $0["isClash"] as? Bool == true },
            "authors": authors.known, "hasAuthors": !authors.known.isEmpty,
        ]
        if !authors.unknown.isEmpty { values["unknown"] = authors.unknown.joined(separator: ", ") }
        if edit.view.refusal(.audit, edit.type) == nil {
            values["history"] = AuditPages.path(collection: edit.type.item.collectionName, key: record.resource.id)
        }
        let rows = children.map { ClassTitle.inSentence(ClassTitle.plural(of: $0.type)) }
        let title =
            rows.map { localized("Somebody changed \(record.title) or its \($0) in the meantime") }
            ?? localized("Somebody changed \(record.title) in the meantime")
        return .page(
            PanelPage(
                title, crumbs: edit.page.crumbs,
                content: Self.template.render(values), status: .preconditionFailed))
    }
}
