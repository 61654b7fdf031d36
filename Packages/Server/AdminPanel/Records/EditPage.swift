import Foundation
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
    /// Of the files of a form together, with its other fields.
    static let maximumFormByteCount = PanelForm.maximumTextByteCount + 2 * PanelForm.maximumFileByteCount

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType

    static func newPath(of type: ResourceType) -> String { "\(AdminPanel.path)/new/\(type.name)" }

    var reader: RecordReader { RecordReader(view: view, pool: request.core.pool) }
    var page: RecordPage { RecordPage(request: request, view: view, type: type) }
    var fields: [FormField] { view.fields(of: type).compactMap { FormField($0) } }
    /// Embedded objects and lists.
    var parts: [FormPart] {
        view.fields(of: type).compactMap { FormPart($0, at: $0.name, of: type.item, view) }.filter { !$0.isControl }
    }

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
        /// What stands in the controls of embedded objects and lists.
        var entries: [String: FormEntry] = [:]
        /// What is chosen to be added to lists of links, by their places.
        var added: [String: String] = [:]
        /// Bytes that were chosen, by field; null for those that shall go.
        var bytes: [String: JSON] = [:]
        /// What is said of the bytes that are there, by field.
        var sizes: [String: String] = [:]
        /// The place that a button was about.
        var focus: String?
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
        for part in parts {
            guard let json = Self.value(of: part, record.resource) else { continue }
            let entry = part.entry(json)
            let count = content.entries.values.reduce(entry.controlCount) { $0 + $1.controlCount }
            guard entry.fits, count <= FormEntry.maximumControlCount else { continue }
            content.was[part.field.name] = json
            content.entries[part.field.name] = entry
        }
        for field in byteFields { content.sizes[field.name] = Self.size(record.resource.attribute(field.name), field) }
        return content
    }

    /// The value of an embedded object or a list of an object that was read; nil for a list that is too long to be shown.
    static func value(of part: FormPart, _ resource: PanelResource) -> JSON? {
        guard part.field.isRelationship else { return resource.attribute(part.field.name) }
        return resource.linked(part.field.name).map { .array($0.map(JSON.string)) }
    }

    /// The value of a field of an object that was read.
    static func value(of field: FormField, _ resource: PanelResource) -> JSON {
        guard case .link = field.control else { return resource.attribute(field.field.name) ?? .null }
        return resource.linked(field.field.name)?.first.map(JSON.string) ?? .null
    }

    /// The form of a new object, with what the address says of it already.
    func create() async throws -> PanelAnswer {
        var content = Content()
        for part in parts { content.entries[part.field.name] = part.blank }
        if let original = request.query(Self.copyParameter) { content = try await copy(of: original) }
        for (field, json) in demanded { content.entered[field.field.name] = field.text(json) }
        for field in fields {
            if let text = request.query(field.name) { content.entered[field.field.name] = text }
        }
        return .page(try await shown(content, title: nil))
    }

    /// What was sent.
    /// - Throws: ``RequestFailure`` with status 400 for more than a form can have.
    func sent() throws -> Content {
        let form = FormValues(request.form)
        var content = Content(version: form[Self.versionField])
        for field in fields {
            let name = field.field.name
            if let was = form[field.wasName] { content.was[name] = FormField.value(was) }
            if let entered = form[field.name] { content.entered[name] = entered }
        }
        for part in parts {
            let name = part.field.name
            if let was = form[Self.wasName(part)] { content.was[name] = FormField.value(was) }
            let whole = form[FormValues.whole(name)].map { part.entry(FormField.value($0)) }
            content.entries[name] = try whole ?? part.entry(form)
        }
        for field in byteFields {
            content.sizes[field.name] = form[Self.sizeName(field)].flatMap { $0.isEmpty ? nil : $0 }
            if let file = request.form.file("f.\(field.name)") {
                content.bytes[field.name] = .string(Data(file.bytes).base64EncodedString())
            } else if form[Self.clearName(field)] != nil {
                content.bytes[field.name] = .null
            }
        }
        content.searches = form.all { "q.\($0)" }
        content.added = form.all(FormValues.added)
        content.id = form[Self.idField] ?? ""
        for field in view.fields(of: type) where content.entries[field.name] == nil && content.bytes[field.name] == nil
        {
            guard !fields.contains(where: { $0.field.name == field.name }) else { continue }
            if let text = form[Self.copyPrefix + field.name] {
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
        let parts = Dictionary(uniqueKeysWithValues: self.parts.map { ($0.field.name, $0) })
        var known: Set<String> = []
        var renderer = FormRenderer(edit: self, content: content, isNew: isNew)
        for field in view.fields(of: type) {
            if let field = FormField(field) {
                controls.append(try await control(field, content, isNew: isNew, renderer.choices))
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
            "action": isNew ? Self.newPath(of: type) : page.path,
            "cancel": isNew ? ClassPages.path(of: type) : page.path,
            "button": isNew ? "Create" : "Save", "isUpload": !byteFields.isEmpty,
        ]
        values["draft"] =
            [
                request.userID.stringValue, type.name, isNew ? "new" : request.parameter("id"), content.version ?? "",
            ].joined(separator: " ")
        // A page has no form that was sent.
        values["isFresh"] = request.form.fields.isEmpty
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
                if let name = problem.fieldName, known.contains(name), let path = problem.formPath {
                    item["field"] = path.split(separator: ".").map { ClassTitle.words(String($0)) }
                        .joined(separator: ", ")
                    item["anchor"] = "f-\(renderer.anchor(path))"
                }
                return item
            }
        }
        return PanelPage(
            isNew ? "New \(ClassTitle.inSentence(singular))" : "Edit \(title ?? "")",
            crumbs: page.crumbs + (title.map { [PanelPage.Crumb(title: $0, path: page.path)] } ?? []),
            content: Self.template.render(values),
            status: content.problems.first?.code.status ?? .ok)
    }

    static func wasName(_ part: FormPart) -> String { "was.\(part.path)" }

    /// Whether the maker of an object has to say its id.
    var needsID: Bool {
        switch type.keyType {
        case .objectId, .uuid: false
        default: true
        }
    }
}
