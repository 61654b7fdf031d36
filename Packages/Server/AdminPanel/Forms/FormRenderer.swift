import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// Renders the controls of embedded objects and lists.
struct FormRenderer {
    private static let controlTemplate = PanelTemplate(PackageResources.control_mustache)
    private static let groupTemplate = PanelTemplate(PackageResources.form_group_mustache)
    private static let listTemplate = PanelTemplate(PackageResources.form_list_mustache)

    let edit: EditPage
    let content: EditPage.Content
    let isNew: Bool
    let choices = FormChoices()
    /// The places in the form that messages can link to.
    var anchors: Set<String> = []

    /// The innermost place of the form that contains a place.
    func anchor(_ path: String) -> String {
        var path = Substring(path)
        while !anchors.contains(String(path)), let dot = path.lastIndex(of: ".") { path = path[..<dot] }
        return String(path)
    }

    mutating func html(_ part: FormPart, _ entry: FormEntry) async throws -> PanelHTML {
        switch (part.kind, entry) {
        case (.control(let field), .text(let text)): return try await html(field, text)
        case (_, .object(let object)): return try await html(part, object)
        case (_, .list(let elements)): return try await html(part, elements)
        default: throw RequestFailure(.internalError, "The form has something unexpected at '\(part.path)'.")
        }
    }

    private mutating func html(_ field: FormField, _ text: String) async throws -> PanelHTML {
        anchors.insert(field.path)
        let isRequired = !field.field.isOptional && isEmptiable(field)
        return Self.controlTemplate.render(
            try await edit.control(field, text, content, isRequired: isRequired, canBeEmpty: false, choices))
    }

    /// Whether a control could be left empty by mistake.
    private func isEmptiable(_ field: FormField) -> Bool {
        switch field.control {
        case .truth: false
        case .text, .longText, .number, .time, .link: true
        }
    }

    /// The values shared by all parts: messages about the place, and whether the last button was about it.
    private mutating func frame(_ part: FormPart) -> [String: Any] {
        anchors.insert(part.path)
        let wrong = content.problems.filter { $0.formPath == part.path }
        var values: [String: Any] = [
            "label": part.title, "path": part.path, "id": "f-\(part.path)", "isFocused": content.focus == part.path,
            "hasWrong": !wrong.isEmpty,
            "wrong": wrong.map { problem in
                ["text": problem.hint.map { "\(problem.message) \($0)" } ?? problem.message]
            },
        ]
        // A list element's field has the name of its list.
        if let hint = part.field.hint, part.path == part.field.name || part.path.hasSuffix(".\(part.field.name)") {
            values["about"] = localizedText(hint)
        }
        return values
    }

    /// The hidden field with the original value; only for a field of the object itself.
    private func was(_ part: FormPart) -> [String: String]? {
        guard !isNew, part.path == part.field.name else { return nil }
        let json = content.was[part.field.name] ?? .null
        return ["name": EditPage.wasName(part), "value": CellText.compact(json)]
    }

    // MARK: Embedded objects

    private mutating func html(_ part: FormPart, _ object: FormEntry.Object) async throws -> PanelHTML {
        var values = frame(part)
        if let was = was(part) { values["was"] = was }
        values["flagName"] = FormValues.presence(part.path)
        values["isThere"] = object.isThere
        values["flag"] = object.isThere ? FormValues.isThere : "no"
        values["button"] = FormAction.value(object.isThere ? .clear : .set, part.path)
        values["parts"] = try await members(of: part, object)
        return Self.groupTemplate.render(values)
    }

    private mutating func members(of part: FormPart, _ object: FormEntry.Object) async throws -> [[String: Any]] {
        guard object.isThere else { return [] }
        var parts: [[String: Any]] = []
        let place = edit.place(among: part.members.map(\.field))
        for member in part.members {
            let entry = object.members[member.field.name] ?? member.blank
            var values: [String: Any] = [
                "partHTML": try await html(member, entry), "isControl": member.isControl,
            ]
            if let place, place.last == member.field.name { values["place"] = place.controls(at: part.path) }
            parts.append(values)
        }
        return parts
    }

    // MARK: Lists

    private mutating func html(_ part: FormPart, _ elements: [FormEntry]) async throws -> PanelHTML {
        var values = frame(part)
        if let was = was(part) { values["was"] = was }
        values["countName"] = FormValues.count(part.path)
        values["count"] = elements.count
        values["elements"] = try await self.elements(of: part, elements)
        let isFull = elements.count >= FormEntry.maximumElementCount
        values["isFull"] = isFull
        values["maximum"] = FormEntry.maximumElementCount
        if !isFull { values["add"] = FormAction.value(.add, part.path) }
        if case .links(let index) = part.kind, let target = edit.view.types[index], !isFull {
            var chooser: [String: Any] = [:]
            let chosen = content.added[part.path] ?? ""
            let present = elements.compactMap { if case .text(let id) = $0 { id } else { nil } }
            let options = try await edit.offered(
                target, at: part.path, content, choices, keeping: chosen, without: present, &chooser)
            chooser["options"] = [edit.noOption(chosen)] + options.map { edit.option($0.id, $0.title, chosen) }
            chooser["name"] = FormValues.added(part.path)
            chooser["id"] = "a-\(part.path)"
            values["chooser"] = chooser
        }
        return Self.listTemplate.render(values)
    }

    private mutating func elements(of part: FormPart, _ elements: [FormEntry]) async throws -> [[String: Any]] {
        var titles = ChoiceTitles()
        if case .links(let index) = part.kind, let target = edit.view.types[index] {
            let ids = elements.compactMap { if case .text(let id) = $0 { id } else { nil } }
            titles = try await choices.titles(of: target, among: ids, edit.reader)
        }
        var shown: [[String: Any]] = []
        for (index, entry) in elements.enumerated() {
            let path = "\(part.path).\(index)"
            var values: [String: Any]
            switch (part.element(index), entry) {
            case (let element?, .object(let object)):
                values = frame(element)
                values["identity"] = ["name": FormValues.identity(path), "value": object.id]
                values["parts"] = try await members(of: element, object)
                values["isObject"] = true
            case (let element?, _):
                values = ["controlHTML": try await html(element, entry), "isFocused": content.focus == path]
            case (nil, .text(let id)):
                anchors.insert(path)
                let wrong = content.problems.filter { $0.formPath == path }
                values = [
                    "linked": ["name": "f.\(path)", "key": id, "text": titles[id] ?? id, "anchor": "f-\(path)"],
                    "isFocused": content.focus == path, "hasWrong": !wrong.isEmpty,
                    "wrong": wrong.map { ["text": $0.message] },
                ]
            default: continue
            }
            values["id"] = "f-\(path)"
            values["title"] = "\(part.title) \(index + 1)"
            values["remove"] = FormAction.value(.remove, path)
            if index > 0 { values["up"] = FormAction.value(.up, path) }
            if index < elements.count - 1 { values["down"] = FormAction.value(.down, path) }
            shown.append(values)
        }
        return shown
    }
}
