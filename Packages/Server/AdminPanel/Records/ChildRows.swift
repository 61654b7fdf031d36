import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// Objects that link to a record, as rows of the record's form.
struct ChildRows: Sendable {
    /// The parameter of a form's address that names the link, such as `Ticket.event`.
    static let parameter = "with"
    /// The prefix of the rows' control names. It can't clash with a field of the record, since API names begin with a
    /// letter or a digit.
    private static let place = "_rows"
    /// The hidden field of a form that doesn't show all objects.
    static let cutField = "m.\(place)"

    let link: IncomingLink
    /// The record's key; nil for a new record.
    private(set) var parent: Value?
    private(set) var table: RowsTable
    private(set) var rows: [RowsTable.Row] = []
    /// Whether there are more objects than rows.
    private(set) var isCut = false

    var type: ResourceType { link.type }
    private var view: CallerView { table.view }

    /// - Returns: nil if the caller can neither change objects of the class in rows nor add any.
    init?(_ link: IncomingLink, of parent: Value?, _ edit: EditPage) {
        // Rows don't contain the link to the user. Roles are granted on the page of people.
        guard let field = FormField(link.field),
            !edit.view.rules.grantColumns.contains(where: { $0.classIndex == link.type.classIndex })
        else { return nil }
        self.link = link
        self.parent = parent
        let id = parent.map { JSON.string($0.keyText) }
        table = RowsTable(
            edit: EditPage(request: edit.request, view: edit.view, type: link.type),
            fields: Self.columns(of: link, edit.view), place: Self.place, fixed: [(field, id ?? .null)])
        guard !table.fields.isEmpty, showsExisting || table.missing?.isEmpty == true else { return nil }
    }

    /// The title's field first, then required ones.
    private static func columns(of link: IncomingLink, _ view: CallerView) -> [ResourceField] {
        let title = ClassTitle.field(of: link.type, view)
        let fields = view.fields(of: link.type).filter { $0.name != title?.name }
        return RowsTable.columns(
            among: (title.map { [$0] } ?? []) + fields.filter(\.isRequiredOnCreation)
                + fields.filter { !$0.isRequiredOnCreation })
    }

    static func query(_ link: IncomingLink) -> String { "\(parameter)=\(RequestParameters.encode(link.name))" }

    private var showsExisting: Bool { parent != nil && view.refusal(.update, type) == nil }

    /// Matches the objects that belong to the record. A record that links to itself isn't a row of its own form.
    private func belong(to parent: Value) -> Predicate {
        guard type.classIndex == link.field.target else { return link.leads(to: parent) }
        return .all([link.leads(to: parent), .compare(PropertyPath(type.key.name), .notEqual, parent)])
    }

    // MARK: Filling the rows

    /// Fills the rows from the current objects, and adds empty ones.
    func read() async throws -> ChildRows {
        var result = self
        if let parent, showsExisting {
            var query = ResourceQuery()
            query.page = ResourcePage(size: RowsTable.maximumRowCount)
            query.sorts = ListRequest.defaultSorts(of: type)
            (result.rows, result.isCut) = try await table.read(query, narrowing: belong(to: parent))
        }
        result.rows += table.newRows
        return result
    }

    /// Fills in the submitted rows.
    func sent() throws -> ChildRows {
        var result = self
        result.rows = try table.sent()
        result.isCut = table.edit.request.form[Self.cutField] != nil
        return result
    }

    /// The same rows for a record that is being created.
    func belonging(to key: Value) -> ChildRows {
        var result = self
        result.parent = key
        if let field = FormField(link.field) { result.table.give(.string(key.keyText), to: field) }
        return result
    }

    /// The same rows, with values for links that new rows share with the record: a new talk gets the event of its
    /// track.
    /// - Parameter entered: the contents of the record's controls, by field.
    func sharing(_ entered: [String: String]) -> ChildRows {
        var result = self
        for shared in ChoiceNarrowing.shared(by: link.field, of: type, view) {
            guard let text = entered[shared.theirs.name], !text.isEmpty, let field = FormField(shared.own) else {
                continue
            }
            result.table.give(field.json(text, was: .null), to: field)
        }
        return result
    }

    // MARK: Saving them

    /// How many rows have something to save.
    var count: Int { rows.count { table.document($0) != nil } }
    /// The change that each row asks for; null for a row that has none.
    var entered: [JSON] { rows.map { table.document($0) ?? .null } }
    var isRefused: Bool { rows.contains { !$0.problems.isEmpty } }

    /// Finds problems that can be detected without the database.
    mutating func check() throws {
        for index in rows.indices {
            guard let document = table.document(rows[index]) else { continue }
            do {
                _ = try table.edit.checked(document)
            } catch let failure as RequestFailure {
                rows[index].problems = [failure] + failure.others
            }
        }
    }

    /// Locks the objects of changed rows. A row is refused if its object has changed in the meantime or no longer
    /// belongs to the record.
    nonisolated(nonsending) mutating func lock(_ connection: PostgresConnection) async throws {
        let changed = rows.indices.filter { !rows[$0].isNew && table.document(rows[$0]) != nil }
        guard let parent, !changed.isEmpty else { return }
        let isChanged = Predicate.isIn(PropertyPath(type.key.name), changed.compactMap { type.keyValue(rows[$0].id) })
        let found = try await ResourceReader(view: view).locked(
            type, matching: .all([belong(to: parent), isChanged]), .update, limit: changed.count, connection)
        // Keyed by id as `Value.string`, since keys are compared by their bytes.
        let now = Dictionary(found.map { (Value.string($0.id), $0) }) { first, _ in first }
        for index in changed {
            guard let current = now[.string(rows[index].id)] else {
                rows[index] = table.gone(rows[index])
                continue
            }
            rows[index] = table.rebased(rows[index], onto: current)
        }
    }

    /// Writes each row without known problems. A refusal doesn't end the transaction: it's recorded in the row.
    nonisolated(nonsending) mutating func write(by writer: ResourceWriter, _ connection: PostgresConnection)
        async throws
    {
        for index in rows.indices where rows[index].problems.isEmpty {
            guard let document = table.document(rows[index]) else { continue }
            let (row, edit) = (rows[index], table.edit)
            let new = row.isNew ? edit.keys.key(of: type, at: table.path(index), document) : nil
            rows[index].problems = try await EditPage.refusals(connection) { connection in
                let change = try edit.checked(document)
                if let new {
                    _ = try await writer.create(change, key: new, at: EditPage.pointer, connection)
                } else if let key = edit.type.keyValue(row.id) {
                    _ = try await writer.update(change, key: key, at: EditPage.pointer, connection)
                }
            }
            if let new, !rows[index].problems.isEmpty, try await edit.isMade(new, connection) {
                rows[index].problems = []
            }
        }
    }
}
