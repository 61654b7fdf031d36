import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// The submitted rows of a form. The page offers a choice for each field that somebody else changed; other input is
/// carried along in hidden fields.
extension ConflictPage {
    /// A row that somebody else has changed.
    struct StaleRow {
        let number: Int
        let mine, theirs: RowsTable.Row
    }

    func staleRows(_ children: ChildRows) -> [StaleRow] {
        let sent = mine.children?.rows ?? []
        return zip(sent, children.rows).enumerated().compactMap { number, row in
            row.0.version == row.1.version ? nil : StaleRow(number: number, mine: row.0, theirs: row.1)
        }
    }

    /// `Track 'Main': Name`
    static func title(_ field: ResourceField, of row: StaleRow, _ children: ChildRows) -> String {
        let singular = ClassTitle.singular(of: children.type)
        return localized("\(singular) '\(row.mine.title)': \(ClassTitle.words(field.name))")
    }

    func choices(of children: ChildRows) async throws -> [[String: Any]] {
        let table = children.table
        var choices: [[String: Any]] = []
        for row in staleRows(children) {
            for field in table.fields {
                guard let control = table.control(field, row.number), let values = values(of: control, row) else {
                    continue
                }
                let title = Self.title(field, of: row, children)
                if let choice = try await choice(control, values, in: table.edit, title: title) {
                    choices.append(choice)
                }
            }
        }
        return choices
    }

    private func values(of control: FormField, _ row: StaleRow) -> Values? {
        let name = control.field.name
        guard let was = row.mine.was[name], let now = row.theirs.was[name] else { return nil }
        return Values(was: was, now: now, own: row.mine.entered[name].map { control.json($0, was: was) } ?? was)
    }

    /// The hidden fields for the rows, except for controls that there is a choice about.
    func hidden(_ children: ChildRows) -> [[String: Any]] {
        let table = children.table
        let stale = Dictionary(staleRows(children).map { ($0.number, $0) }) { first, _ in first }
        var fields = [Self.hidden(table.countName, "\(children.rows.count)")]
        if children.isCut { fields.append(Self.hidden(ChildRows.cutField, "yes")) }
        for (number, row) in children.rows.enumerated() {
            fields.append(Self.hidden(FormValues.identity(table.path(number)), row.id))
            fields.append(Self.hidden(table.versionName(number), row.version))
            for control in table.fields.compactMap({ table.control($0, number) }) {
                let name = control.field.name
                if !row.isNew { fields.append(Self.hidden(control.wasName, CellText.compact(row.was[name] ?? .null))) }
                let both = stale[number].flatMap { values(of: control, $0) }
                if let both, both.isMine || both.isTheirs { continue }
                if let entered = row.entered[name] { fields.append(Self.hidden(control.name, entered)) }
            }
        }
        return fields
    }
}
