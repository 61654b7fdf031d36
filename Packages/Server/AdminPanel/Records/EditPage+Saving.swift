import AdminService
import Foundation
import PostgresClient
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

extension EditPage {
    /// Changes the object as the form asks, if it still has the version that the form was filled from.
    func save() async throws -> PanelAnswer {
        var content = try sent()
        let key = try page.key()
        content.children = try children(of: key)?.sent()
        if try await changesRows(of: &content, key) || acts(on: &content) {
            let record = try await reader.record(type, key: key)
            return .page(try await shown(content, title: record.title))
        }
        let document = document(content)
        if document != nil { try await demandPassword() }
        if let children = content.children {
            return try await save(content, with: children.sharing(content.entered), key: key)
        }
        guard let version = content.version, let document else {
            return .redirect(to: page.path, notice: PanelNotice(localized("Nothing was changed.")))
        }
        let stored: PanelResource?
        do {
            stored = try await update(document, key: key, version: version)
        } catch let failure as RequestFailure where failure.code == .preconditionFailed {
            if holds(try await reader.record(type, key: key).resource, document) {
                return .redirect(to: page.path, notice: PanelNotice(localized("Saved.")))
            }
            return try await ConflictPage(edit: self, mine: content).answer()
        } catch let failure as RequestFailure where Self.isOfForm(failure) {
            let record = try await reader.record(type, key: key)
            content.problems = [failure] + failure.others
            return .page(try await shown(content, title: record.title))
        }
        return .redirect(to: page.path, notice: try await notice(localized("Saved."), document, stored))
    }

    /// Applies a button inside the form.
    /// - Returns: whether nothing may be saved, because such a button was pressed or because what was chosen can't be
    ///   added.
    private func acts(on content: inout Content) -> Bool {
        if let action = FormAction(request.form[FormAction.field]) {
            perform(action, on: &content)
            return true
        }
        if request.form[Self.findField] != nil { return true }
        // Add what was chosen for lists, whether or not the button was pressed.
        for path in content.added.keys.sorted() {
            if let action = FormAction(FormAction.value(.add, path)) { perform(action, on: &content) }
        }
        content.problems += repetitions(content)
        return !content.problems.isEmpty
    }

    /// Failures for links that a list repeats more often than it did originally. A copy may have the original's
    /// repetitions.
    private func repetitions(_ content: Content) -> [RequestFailure] {
        guard content.version != nil else { return [] }
        return parts.flatMap { part -> [RequestFailure] in
            guard let entry = content.entries[part.field.name] else { return [] }
            return part.repetitions(entry, was: content.was[part.field.name] ?? .null)
        }
    }

    private func perform(_ action: FormAction, on content: inout Content) {
        guard let name = action.path.first, let part = parts.first(where: { $0.field.name == name }),
            var entry = content.entries[part.field.name]
        else { return }
        let path = action.path.joined(separator: ".")
        let added = action.verb == .add ? content.added.removeValue(forKey: path) : nil
        let focus: String?
        do {
            focus = try part.perform(action.verb, at: action.path.dropFirst(), added: added, on: &entry)
        } catch {
            content.problems.append(error)
            return
        }
        let others = content.entries.filter { $0.key != part.field.name }.values
        guard others.reduce(entry.controlCount, { $0 + $1.controlCount }) <= FormEntry.maximumControlCount else {
            content.problems = [Self.tooManyValues(at: action.path.joined(separator: "/"))]
            return
        }
        content.entries[part.field.name] = entry
        content.focus = focus
    }

    static func tooManyValues(at place: String) -> RequestFailure {
        RequestFailure(
            .unprocessable, "A form can have at most \(FormEntry.maximumControlCount) values in lists.",
            hint: "Save what you have, or write longer lists over JSON:API.",
            source: .pointer("/data/attributes/\(place)"))
    }

    /// Creates the object as the form asks.
    func make() async throws -> PanelAnswer {
        var content = try sent()
        content.children = try children(of: nil)?.sent()
        if try await changesRows(of: &content, nil) || acts(on: &content) {
            return .page(try await shown(content, title: nil))
        }
        try await demandPassword()
        var key: Value?
        do {
            let new = try newKey(content)
            key = new
            if let children = content.children {
                return try await make(content, with: children.belonging(to: new).sharing(content.entered), key: new)
            }
            let document = newDocument(content)
            let stored = try await create(document, key: new)
            return made(stored != nil, key: new, try await notice(localized("Created."), document, stored))
        } catch let failure as RequestFailure where Self.isOfForm(failure) {
            if let key, try await isMade(key) { return try await madeOnce(key) }
            content.problems = [failure] + failure.others
            return .page(try await shown(content, title: nil))
        }
    }

    /// The page after an object was created.
    func made(_ isVisible: Bool, key: Value, _ notice: PanelNotice) -> PanelAnswer {
        // Creating an object may give its creator a role in it, which must apply to the next page.
        request.core.authenticator.forget(request.userID)
        return isVisible
            ? .redirect(to: ClassPages.path(of: type, id: key.keyText), notice: notice)
            : .redirect(
                to: ClassPages.path(of: type), notice: PanelNotice(localized("Created, but you may not see it.")))
    }

    /// The page after another arrival of the form has created the object.
    func madeOnce(_ key: Value) async throws -> PanelAnswer {
        let found = try await ResourceReader(view: view).single(type, key: key, ResourceQuery(), request.core.pool)
        return made(found != nil, key: key, Self.madeOnce)
    }

    // MARK: Writing

    /// Demands the password if objects of the class grant roles.
    func demandPassword() async throws {
        try await request.demandPassword(changingClassAt: type.classIndex, under: view.rules)
    }

    static let pointer = RequestPointer() / "data"

    /// The parsed change of a resource object, checked as far as possible without the database.
    func checked(_ document: JSON) throws -> ResourceChange {
        var change = ResourceChange(type, view)
        change.isForm = true
        change.read(document, at: Self.pointer)
        try change.check()
        return change
    }

    var writer: ResourceWriter { ResourceWriter(view: view, moveToTrash: Self.move(request.core)) }

    /// Changes an object, if it still has this version.
    /// - Returns: the stored result; nil if the caller can no longer see it.
    @discardableResult
    func update(_ document: JSON, key: Value, version: String) async throws -> PanelResource? {
        let (change, writer) = (try checked(document), writer)
        return try await request.core.pool.transaction { connection in
            try await writer.update(change, key: key, ifMatch: "\"\(version)\"", at: Self.pointer, connection)
        }.map { try PanelResource($0) }
    }

    /// Creates an object.
    /// - Returns: the stored result; nil if the caller can't see it.
    func create(_ document: JSON, key: Value) async throws -> PanelResource? {
        let (change, writer) = (try checked(document), writer)
        return try await request.core.pool.transaction { connection in
            try await writer.create(change, key: key, at: Self.pointer, connection)
        }.map { try PanelResource($0) }
    }

    /// Whether the user can correct this in the form.
    private static func isOfForm(_ failure: RequestFailure) -> Bool {
        [.unprocessable, .conflict, .forbidden, .badRequest].contains(failure.code)
    }

    static func move(_ core: PanelCore) -> JSONAPIRoutes.TrashMove {
        let pool = core.pool
        return { connection, schema, className, key, user, reason in
            _ = try await Trash(schema: schema, pool: pool).trash(
                className, key, by: user, because: reason, on: connection)
        }
    }

    /// The resource object that the form creates.
    func newDocument(_ content: Content) -> JSON { adding(content.copied, to: document(content)) ?? [:] }

    /// The resource object with the changed fields; nil if there are none.
    func document(_ content: Content) -> JSON? {
        let single = document(
            setting: fields.compactMap { field in
                let name = field.field.name
                guard let entered = content.entered[name] else { return nil }
                let was = content.was[name] ?? .null
                let json = field.json(entered, was: was)
                return json == was ? nil : (field, json)
            })
        var several = content.bytes
        for part in parts { several[part.field.name] = changed(part, content) }
        return adding(several, to: single)
    }

    /// The new value of an embedded object or a list; nil if it's unchanged or not in the form.
    func changed(_ part: FormPart, _ content: Content) -> JSON? {
        guard let entry = content.entries[part.field.name] else { return nil }
        let json = part.json(entry, was: content.was[part.field.name] ?? .null)
        let was = content.was[part.field.name] ?? part.json(part.blank, was: .null)
        // In a conditional expression, a literal nil would become JSON's null.
        guard json != was else { return nil }
        return json
    }

    /// The resource object with these fields; nil if there are none.
    func document(setting values: [(field: FormField, value: JSON)]) -> JSON? {
        var attributes: [String: JSON] = [:]
        var relationships: [String: JSON] = [:]
        for (field, json) in values {
            let name = field.field.name
            if case .link(let index) = field.control {
                let target = view.types[index]?.name ?? ""
                relationships[name] = [
                    "data": json == .null ? .null : ["type": .string(target), "id": json]
                ]
            } else {
                attributes[name] = json
            }
        }
        guard !(attributes.isEmpty && relationships.isEmpty) else { return nil }
        return ["attributes": .object(attributes), "relationships": .object(relationships)]
    }

    /// A value as people read it; a link is shown by its target's title.
    func text(_ json: JSON, _ field: FormField) async throws -> String {
        if json == .null { return localized("none") }
        if case .link(let index) = field.control, case .string(let id) = json, let target = view.types[index] {
            return try await reader.choices(of: target, among: [id]).first?.title ?? id
        }
        return CellText.value(json, field.field, limit: nil)["text"] as? String ?? ""
    }
}
