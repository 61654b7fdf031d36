import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// A table that is part of a form: objects of one class as rows with controls instead of values, and empty rows for new
/// objects.
struct RowsTable: Sendable {
    /// The maximum number of rows for existing objects.
    static let maximumRowCount = 50
    static let maximumColumnCount = 12
    /// How many empty rows for new objects follow.
    static let newRowCount = 3

    /// A row of the form.
    struct Row: Sendable {
        /// Empty for a new object.
        let id: String
        var title: String
        var version: String
        var was: [String: JSON]
        /// The controls' contents, except for texts that are too long for a row.
        var entered: [String: String]
        var problems: [RequestFailure] = []
        /// The current values of fields that both somebody else and this form changed.
        var theirs: [String: String] = [:]
        /// Whether its object no longer exists. The form shows the input a last time, and doesn't send it again.
        var isGone = false

        var isNew: Bool { id.isEmpty }
    }

    /// The edit page of the rows' class.
    let edit: EditPage
    let fields: [ResourceField]
    /// The prefix of a row's number in the names of its controls; nil in a form that consists of rows only.
    let place: String?
    /// The values that every new object gets, whether or not they have columns.
    private(set) var given: [(field: FormField, value: JSON)]

    var type: ResourceType { edit.type }
    var view: CallerView { edit.view }

    /// - Parameter fixed: the values that every new object gets, in addition to those that the rules demand.
    init(edit: EditPage, fields: [ResourceField], place: String? = nil, fixed: [(field: FormField, value: JSON)]) {
        self.edit = edit
        self.fields = fields
        self.place = place
        given = fixed + edit.demanded.filter { one in !fixed.contains { $0.field.name == one.field.name } }
    }

    /// The fields that can be columns: those whose value fits into one control.
    static func columns(among fields: [ResourceField]) -> [ResourceField] {
        Array(fields.filter { !$0.isRelationship && FormField($0) != nil }.prefix(maximumColumnCount))
    }

    // MARK: New objects

    /// Empty rows, if the caller may create objects of the class, their ids are generated, and the columns cover
    /// everything that a new object needs.
    var newRows: [Row] {
        guard missing?.isEmpty == true else { return [] }
        let row = Row(id: "", title: "", version: "", was: [:], entered: [:])
        return Array(repeating: row, count: Self.newRowCount)
    }

    /// The fields that a new object needs but no column has; nil if the caller can't create objects here anyway.
    var missing: [ResourceField]? {
        guard view.refusal(.create, type) == nil, FormKeys.make(type) else { return nil }
        let known = Set(fields.map(\.name) + given.map { $0.field.field.name })
        return view.fields(of: type).filter { $0.isRequiredOnCreation && !known.contains($0.name) }
    }

    /// Replaces the value that every new object gets for a field.
    mutating func give(_ value: JSON, to field: FormField) {
        given.removeAll { $0.field.name == field.name }
        given.append((field, value))
    }

    /// The rows, with titles for new ones: `New session 1`.
    func numbered(_ rows: [Row]) -> [Row] {
        let name = ClassTitle.inSentence(ClassTitle.singular(of: type))
        var rows = rows
        for (number, index) in rows.indices.filter({ rows[$0].isNew }).enumerated() {
            rows[index].title = localized("New \(name) \(number + 1)")
        }
        return rows
    }
}
