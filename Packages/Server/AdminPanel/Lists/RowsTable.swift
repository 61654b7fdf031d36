import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Objects of one class as rows with controls instead of values, and empty rows for new ones: a table that is part of a form.
struct RowsTable: Sendable {
    /// Rows of objects that are there already.
    static let maximumRowCount = 50
    static let maximumColumnCount = 12
    /// Empty rows for new objects, below the others.
    static let newRowCount = 3

    /// A row as the form has it.
    struct Row: Sendable {
        /// Empty for a new object.
        let id: String
        var title: String
        var version: String
        var was: [String: JSON]
        /// Without those that are too long for a row.
        var entered: [String: String]
        var problems: [RequestFailure] = []
        /// What somebody else made of a field that was edited here too.
        var theirs: [String: String] = [:]
        /// Whether its object isn't there any more: the form shows what was entered once again, and sends it no more.
        var isGone = false

        var isNew: Bool { id.isEmpty }
    }

    /// Of the rows' class.
    let edit: EditPage
    /// The columns.
    let fields: [ResourceField]
    /// What stands before a row's number in the names of its controls; nil in a form that has nothing but rows.
    let place: String?
    /// The values that every new object has, whether or not they are among the columns.
    private(set) var given: [(field: FormField, value: JSON)]

    var type: ResourceType { edit.type }
    var view: CallerView { edit.view }

    /// - Parameter fixed: the values that every new object has, besides those that the rules demand.
    init(edit: EditPage, fields: [ResourceField], place: String? = nil, fixed: [(field: FormField, value: JSON)]) {
        self.edit = edit
        self.fields = fields
        self.place = place
        given = fixed + edit.demanded.filter { one in !fixed.contains { $0.field.name == one.field.name } }
    }

    /// Those of some fields that can be columns: values that one control holds.
    static func columns(among fields: [ResourceField]) -> [ResourceField] {
        Array(fields.filter { !$0.isRelationship && FormField($0) != nil }.prefix(maximumColumnCount))
    }

    // MARK: New objects

    /// Empty rows for callers who may make objects of a class whose ids are made for them, if the columns have everything
    /// that a new object needs.
    var newRows: [Row] {
        guard missing?.isEmpty == true else { return [] }
        let row = Row(id: "", title: "", version: "", was: [:], entered: [:])
        return Array(repeating: row, count: Self.newRowCount)
    }

    /// What a new object needs and the columns haven't; nil for callers who may make none in any case.
    var missing: [ResourceField]? {
        guard view.refusal(.create, type) == nil, FormKeys.make(type) else { return nil }
        let known = Set(fields.map(\.name) + given.map { $0.field.field.name })
        return view.fields(of: type).filter { $0.isRequiredOnCreation && !known.contains($0.name) }
    }

    /// Gives another value to a field of every new object.
    mutating func give(_ value: JSON, to field: FormField) {
        given.removeAll { $0.field.name == field.name }
        given.append((field, value))
    }

    /// The rows with titles for the new ones: `New session 1`.
    func numbered(_ rows: [Row]) -> [Row] {
        let name = ClassTitle.inSentence(ClassTitle.singular(of: type))
        var rows = rows
        for (number, index) in rows.indices.filter({ rows[$0].isNew }).enumerated() {
            rows[index].title = localized("New \(name) \(number + 1)")
        }
        return rows
    }
}
