import HTTPTypes
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

extension EditPage {
    private static let template = PanelTemplate(PackageResources.edit_mustache)

    /// - Parameter title: the object's title; nil for a new one.
    func shown(_ content: Content, title: String?) async throws -> PanelPage {
        let singular = ClassTitle.singular(of: type)
        let isNew = title == nil
        var controls: [[String: Any]] = []
        let parts = Dictionary(uniqueKeysWithValues: self.parts.map { ($0.field.name, $0) })
        var known: Set<String> = []
        var renderer = FormRenderer(edit: self, content: content, isNew: isNew)
        let place = self.place(among: view.fields(of: type))
        for field in view.fields(of: type) {
            if let field = FormField(field) {
                var values = try await control(field, content, isNew: isNew, renderer.choices)
                if let place, place.last == field.path { values["place"] = place.controls(at: nil) }
                controls.append(values)
                renderer.anchors.insert(field.path)
            } else if let part = parts[field.name], let entry = content.entries[field.name] {
                controls.append(["isPart": true, "partHTML": try await renderer.html(part, entry)])
            } else if field.isBytes {
                renderer.anchors.insert(field.name)
                controls.append(bytesControl(field, content, isNew: isNew))
            } else {
                continue
            }
            known.insert(field.name)
        }
        var values: [String: Any] = [
            "formToken": request.visit.token.formToken, "fields": controls, "singular": singular,
            "action": action(content, isNew: isNew),
            "cancel": isNew ? ClassPages.path(of: type) : page.path,
            "button": isNew ? localized("Create") : localized("Save"),
            "draft": draft(content, isNew: isNew),
            // A fresh page wasn't made from a submitted form.
            "isFresh": request.form.fields.isEmpty,
        ]
        let together = try together(content, isNew: isNew)
        values["together"] = together
        values["seed"] = keys.seed.stringValue
        values["hasTogether"] = !together.isEmpty
        if let version = content.version { values["version"] = version }
        if isNew, !FormKeys.make(type) {
            values["key"] = ["value": content.id, "hint": ValueText.expected(type.keyType).localized]
        }
        values["copied"] = content.copied.sorted { $0.key < $1.key }.map {
            ["name": Self.copyPrefix + $0.key, "value": CellText.compact($0.value)]
        }
        let missing = view.fields(of: type).filter { !known.contains($0.name) && content.copied[$0.name] == nil }.map {
            ClassTitle.words($0.name)
        }
        if !missing.isEmpty { values["missing"] = missing.joined(separator: ", ") }
        if let children = content.children { values["children"] = try await children.values(title: title) }
        if content.isRefused {
            values["hasProblems"] = true
            values["problems"] = problems(content, known, renderer) + (content.children?.problems ?? [])
        }
        let heading = title.map { localized("Edit \($0)") } ?? localized("New \(ClassTitle.inSentence(singular))")
        return PanelPage(
            heading,
            crumbs: page.crumbs + (title.map { [PanelPage.Crumb(title: $0, path: page.path)] } ?? []),
            content: Self.template.render(values), status: Self.status(of: content))
    }

    /// The two fields that get a map; nil without a tile server.
    func place(among fields: [ResourceField]) -> PlaceFields? {
        request.core.tiles == nil ? nil : PlaceFields(fields)
    }

    private static func status(of content: Content) -> HTTPResponse.Status {
        content.problems.first?.code.status ?? (content.isRefused ? .unprocessableContent : .ok)
    }

    /// The address that the form is sent to. It names the rows that the form contains.
    func action(_ content: Content, isNew: Bool) -> String {
        let path = isNew ? Self.newPath(of: type) : page.path
        return content.children.map { "\(path)?\(ChildRows.query($0.link))" } ?? path
    }

    /// Identifies what the form was filled from. Unsaved input is restored only into a form with the same identity.
    private func draft(_ content: Content, isNew: Bool) -> String {
        let parts = [
            request.userID.stringValue, type.name, isNew ? "new" : request.parameter("id"), content.version ?? "",
        ]
        return (parts + (content.children.map { [$0.link.name, $0.state] } ?? [])).joined(separator: " ")
    }

    /// The problems of the object itself, with links to the controls that they're about.
    private func problems(_ content: Content, _ known: Set<String>, _ renderer: FormRenderer) -> [[String: Any]] {
        content.problems.map { problem in
            var item: [String: Any] = ["text": problem.message]
            if let hint = problem.hint { item["hint"] = hint }
            if let name = problem.fieldName, known.contains(name), let path = problem.formPath {
                item["field"] = path.split(separator: ".").map { ClassTitle.words(String($0)) }
                    .joined(separator: ", ")
                item["anchor"] = "f-\(renderer.anchor(path))"
            }
            return item
        }
    }
}
