import HTTPTypes
import PostgresClient
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// The forms that change an object or make one.
struct EditPage: Sendable {
    private static let template = PanelTemplate(PackageResources.edit_mustache)
    /// The hidden field with the version that the form was filled from.
    static let versionField = "_version"
    /// The button that searches for what a link leads to; its value is the field's name.
    static let findField = "_find"
    static let idField = "_id"

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType

    static func newPath(of type: ResourceType) -> String { "\(AdminPanel.path)/new/\(type.name)" }

    var reader: RecordReader { RecordReader(view: view, pool: request.core.pool) }
    var page: RecordPage { RecordPage(request: request, view: view, type: type) }
    var fields: [FormField] { view.fields(of: type).compactMap(FormField.init) }

    /// What a form has: what was read, what stands in the controls, and what is wrong with it.
    struct Content {
        /// Nil for a new object.
        var version: String?
        var was: [String: JSON] = [:]
        var entered: [String: String] = [:]
        var searches: [String: String] = [:]
        var id = ""
        var problems: [RequestFailure] = []
        /// Of a copy: what has no control, by field.
        var copied: [String: JSON] = [:]
    }

    // MARK: Filling the form

    /// The form of an object as it is.
    func edit() async throws -> PanelAnswer {
        let key = try page.key()
        if let denial = try await ResourceReader(view: view).refusal(.update, type, key: key, request.core.pool) {
            throw RequestFailure(denial)
        }
        let record = try await reader.record(type, key: key)
        return .page(try await shown(content(of: record), title: record.title))
    }

    func content(of record: RecordReader.Record) -> Content {
        var content = Content(version: record.resource.version)
        for field in fields {
            let json = Self.value(of: field, record.resource)
            content.was[field.field.name] = json
            content.entered[field.field.name] = field.text(json)
        }
        return content
    }

    /// The value of a field of an object that was read.
    static func value(of field: FormField, _ resource: PanelResource) -> JSON {
        guard case .link = field.control else { return resource.attribute(field.field.name) ?? .null }
        return resource.linked(field.field.name)?.first.map(JSON.string) ?? .null
    }

    /// The form of a new object, with what the address says of it already.
    func create() async throws -> PanelAnswer {
        var content = Content()
        if let original = request.query(Self.copyParameter) { content = try await copy(of: original) }
        for field in fields {
            if let text = request.query(field.name) { content.entered[field.field.name] = text }
        }
        return .page(try await shown(content, title: nil))
    }

    /// What was sent.
    func sent() -> Content {
        var content = Content(version: request.form[Self.versionField])
        for field in fields {
            let name = field.field.name
            if let was = request.form[field.wasName] { content.was[name] = FormField.value(was) }
            if let entered = request.form[field.name] { content.entered[name] = entered }
            if let search = request.form[field.searchName], !search.isEmpty { content.searches[name] = search }
        }
        content.id = request.form[Self.idField] ?? ""
        for field in view.fields(of: type) where !fields.contains(where: { $0.field.name == field.name }) {
            if let text = request.form[Self.copyPrefix + field.name] {
                content.copied[field.name] = FormField.value(text)
            }
        }
        return content
    }

    // MARK: Showing it

    /// - Parameter title: of the object; nil for a new one.
    func shown(_ content: Content, title: String?) async throws -> PanelPage {
        let singular = ClassTitle.singular(of: type)
        let isNew = title == nil
        var controls: [[String: Any]] = []
        for field in fields { controls.append(try await control(field, content, isNew: isNew)) }
        let known = Set(fields.map(\.field.name))
        var values: [String: Any] = [
            "formToken": request.visit.token.formToken, "fields": controls, "singular": singular,
            "action": isNew ? Self.newPath(of: type) : page.path,
            "cancel": isNew ? ClassPages.path(of: type) : page.path,
            "button": isNew ? "Make it" : "Save",
        ]
        if let version = content.version { values["version"] = version }
        if isNew, needsID { values["key"] = ["value": content.id, "hint": ValueText.expected(type.keyType)] }
        values["copied"] = content.copied.sorted { $0.key < $1.key }.map {
            ["name": Self.copyPrefix + $0.key, "value": CellText.compact($0.value)]
        }
        let missing = view.fields(of: type).filter { !known.contains($0.name) && content.copied[$0.name] == nil }.map {
            ClassTitle.words($0.name)
        }
        if !missing.isEmpty { values["missing"] = missing.joined(separator: ", ") }
        if !content.problems.isEmpty {
            values["hasProblems"] = true
            values["problems"] = content.problems.map { problem -> [String: Any] in
                var item: [String: Any] = ["text": problem.message]
                if let hint = problem.hint { item["hint"] = hint }
                if let name = problem.fieldName, let field = fields.first(where: { $0.field.name == name }) {
                    item["field"] = field.title
                    item["anchor"] = "f-\(name)"
                }
                return item
            }
        }
        return PanelPage(
            isNew ? "New \(singular.prefix(1).lowercased())\(singular.dropFirst())" : "Edit \(title ?? "")",
            crumbs: page.crumbs + (title.map { [PanelPage.Crumb(title: $0, path: page.path)] } ?? []),
            content: Self.template.render(values),
            status: content.problems.first?.code.status ?? .ok)
    }

    /// Whether the maker of an object has to say its id.
    var needsID: Bool {
        switch type.keyType {
        case .objectId, .uuid: false
        default: true
        }
    }

    /// A field's control, for the template `control`.
    func control(_ field: FormField, _ content: Content, isNew: Bool) async throws -> [String: Any] {
        let name = field.field.name
        let entered = content.entered[name] ?? ""
        var values: [String: Any] = [
            "name": field.name, "id": "f-\(name)", "label": field.title, "value": entered,
            "isOptional": field.field.isOptional, "isRequired": isNew && field.field.isRequiredOnCreation,
        ]
        if !isNew { values["was"] = ["name": field.wasName, "value": CellText.compact(content.was[name] ?? .null)] }
        let wrong = content.problems.filter { $0.fieldName == name }
        if !wrong.isEmpty {
            values["hasWrong"] = true
            values["wrong"] = wrong.map { problem in
                ["text": problem.hint.map { "\(problem.message) \($0)" } ?? problem.message]
            }
        }
        switch field.control {
        case .text where fixedValues(of: field) != nil:
            let known = fixedValues(of: field) ?? []
            let others = known.contains(entered) || entered.isEmpty ? [] : [entered]
            values["hasOptions"] = true
            values["options"] =
                (field.field.isOptional || entered.isEmpty ? [option("", "none", entered)] : [])
                + (others + known).map { option($0, $0, entered) }
        case .text, .longText:
            let isLong = entered.utf8.count > 80 || entered.contains(where: \.isNewline)
            values[isLong ? "longText" : "text"] = true
        case .number: values["number"] = true
        case .truth:
            values["hasOptions"] = true
            values["options"] =
                (field.field.isOptional || isNew ? [option("", "none", entered)] : [])
                + [option("true", "Yes", entered), option("false", "No", entered)]
        case .time:
            // Another form than the control's is shown as text, or the browser would show nothing.
            let fits = entered.isEmpty || FormField.localTime(entered + "Z") != nil || entered.utf8.count == 16
            values[fits ? "time" : "text"] = true
            values["hint"] = fits ? "In UTC." : "In UTC, such as 2026-05-14T13:22:18Z."
        case .link(let index):
            guard let target = view.types[index] else { break }
            try await choose(target, field, content, entered, &values)
        }
        values["hasDescription"] = values["hint"] != nil || !wrong.isEmpty
        return values
    }

    /// The values that a text can have, where rules list them: the roles of a class that gives roles.
    private func fixedValues(of field: FormField) -> [String]? {
        view.rules.grantColumns.first {
            $0.classIndex == type.classIndex && $0.roleColumn == field.field.column
        }?.roles
    }

    private func option(_ value: String, _ title: String, _ entered: String) -> [String: Any] {
        ["value": value, "title": title, "isChosen": value == entered]
    }

    /// A link's control: all there is to choose if that's little, otherwise a search with what it found.
    private func choose(
        _ target: ResourceType, _ field: FormField, _ content: Content, _ entered: String,
        _ values: inout [String: Any]
    ) async throws {
        let none = field.field.isOptional || entered.isEmpty ? [option("", "none", entered)] : []
        let few = try await reader.choices(
            of: target, matching: .constant(true), limit: RecordReader.choiceCount + 1)
        var options = few.count <= RecordReader.choiceCount ? few : []
        let search = content.searches[field.field.name]
        if few.count > RecordReader.choiceCount {
            values["search"] = [
                "name": field.searchName, "id": "q-\(field.field.name)", "value": search ?? "",
                "find": field.field.name, "plural": ClassTitle.plural(of: target),
            ]
            if let search {
                options = try await reader.choices(
                    of: target, matching: ListRequest.predicate(search, target, view.fields(of: target)),
                    limit: RecordReader.foundCount)
                if options.isEmpty { values["hint"] = "Nothing was found for '\(search)'." }
            }
        }
        if !entered.isEmpty, !options.contains(where: { $0.id == entered }) {
            // What the caller may not see keeps its id.
            let known = try await reader.choices(of: target, among: [entered]).first
            options.insert(known ?? RecordReader.Choice(id: entered, title: entered), at: 0)
        }
        values["hasOptions"] = true
        values["options"] = none + options.map { option($0.id, $0.title, entered) }
    }
}

extension RequestFailure {
    /// The field of a resource that it's about, by the place in the document.
    var fieldName: String? {
        guard case .pointer(let place)? = source else { return nil }
        let parts = place.split(separator: "/")
        guard parts.count >= 3, parts[1] == "attributes" || parts[1] == "relationships" else { return nil }
        return String(parts[2]).replacing("~1", with: "/").replacing("~0", with: "~")
    }
}
