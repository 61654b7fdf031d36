import Foundation
import HTTPTypes
import PostgresClient
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// The forms that change or create an object.
struct EditPage: Sendable {
    /// The hidden field with the version that the form was filled from.
    static let versionField = "_version"
    /// The button that searches for a link's target; its value is the field's name.
    static let findField = "_find"
    static let idField = "_id"
    /// The maximum size of a form: its files, plus all other fields.
    static let maximumFormByteCount = PanelForm.maximumTextByteCount + 2 * PanelForm.maximumFileByteCount

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType

    static func newPath(of type: ResourceType) -> String { "\(AdminPanel.path)/new/\(type.name)" }

    var reader: RecordReader { RecordReader(view: view, pool: request.core.pool) }
    var page: RecordPage { RecordPage(request: request, view: view, type: type) }
    var fields: [FormField] { view.fields(of: type).compactMap { FormField($0) } }
    /// The embedded objects and lists.
    var parts: [FormPart] {
        view.fields(of: type).compactMap { FormPart($0, at: $0.name, of: type.item, view) }.filter { !$0.isControl }
    }

    /// The content of a form: the original values, the contents of its controls, and any problems.
    struct Content {
        /// Nil for a new object.
        var version: String?
        var was: [String: JSON] = [:]
        var entered: [String: String] = [:]
        var searches: [String: String] = [:]
        var id = ""
        var problems: [RequestFailure] = []
        /// For a copy, the values that have no control, by field.
        var copied: [String: JSON] = [:]
        /// The contents of the controls for embedded objects and lists.
        var entries: [String: FormEntry] = [:]
        /// The ids chosen to be added to lists of links, by place.
        var added: [String: String] = [:]
        /// The chosen bytes, by field; null for bytes that should be removed.
        var bytes: [String: JSON] = [:]
        /// The descriptions of the current bytes, by field.
        var sizes: [String: String] = [:]
        /// The fields whose current bytes are images.
        var images: Set<String> = []
        /// The place that a button was about.
        var focus: String?
        /// The rows of objects that link to this one, if the form has any.
        var children: ChildRows?

        var isRefused: Bool { !problems.isEmpty || children?.isRefused == true }
    }

    // MARK: Filling the form

    /// The form of an existing object.
    func edit() async throws -> PanelAnswer {
        let key = try page.key()
        if let denial = try await ResourceReader(view: view).refusal(.update, type, key: key, request.core.pool) {
            throw RequestFailure(denial)
        }
        let children = try children(of: key)
        let record = try await reader.record(type, key: key)
        var content = content(of: record.resource)
        content.children = try await children?.read()
        return .page(try await shown(content, title: record.title))
    }

    func content(of resource: PanelResource) -> Content {
        var content = Content(version: resource.version)
        for field in fields {
            let json = Self.value(of: field, resource)
            content.was[field.field.name] = json
            content.entered[field.field.name] = field.text(json)
        }
        for part in parts {
            guard let json = Self.value(of: part, resource) else { continue }
            let entry = part.entry(json)
            let count = content.entries.values.reduce(entry.controlCount) { $0 + $1.controlCount }
            guard entry.fits, count <= FormEntry.maximumControlCount else { continue }
            content.was[part.field.name] = json
            content.entries[part.field.name] = entry
        }
        for field in byteFields {
            let json = resource.attribute(field.name)
            content.sizes[field.name] = Self.size(json, field)
            if BytesPages.isImage(json) { content.images.insert(field.name) }
        }
        return content
    }

    /// The original value of an embedded object or a list; nil if it is, or contains, a list that is too long to be
    /// shown.
    static func value(of part: FormPart, _ resource: PanelResource) -> JSON? {
        guard part.field.isRelationship else {
            let json = resource.attribute(part.field.name)
            return part.field.unshownLists(in: json).isEmpty ? json : nil
        }
        return resource.linked(part.field.name).map { .array($0.map(JSON.string)) }
    }

    /// The original value of a field.
    static func value(of field: FormField, _ resource: PanelResource) -> JSON {
        guard case .link = field.control else { return resource.attribute(field.field.name) ?? .null }
        return resource.linked(field.field.name)?.first.map(JSON.string) ?? .null
    }

    /// The form of a new object, prefilled from the address.
    func create() async throws -> PanelAnswer {
        var content = Content()
        for part in parts { content.entries[part.field.name] = part.blank }
        if let original = request.query(Self.copyParameter) {
            content = try await copy(of: original)
        } else {
            content.entered = try await defaults()
        }
        for (field, json) in demanded { content.entered[field.field.name] = field.text(json) }
        for field in fields {
            if let text = request.query(field.name) { content.entered[field.field.name] = text }
        }
        content.children = try await children(of: nil)?.read()
        return .page(try await shown(content, title: nil))
    }

    /// The submitted content.
    /// - Throws: ``RequestFailure`` with status 400 or 422 for more than a form can have.
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
            let entry = try whole ?? part.entry(form)
            // No page has ever shown, or ever will show, more than that.
            guard entry.map({ $0.fits && $0.controlCount <= FormEntry.maximumControlCount }) ?? true else {
                throw Self.tooManyValues(at: name)
            }
            content.entries[name] = entry
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

    static func wasName(_ part: FormPart) -> String { "was.\(part.path)" }
}
