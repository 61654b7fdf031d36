import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloLocalization

/// The submitted rows, and the changes they ask for.
extension RowsTable {
    /// The place of a row in the form, by its number.
    func path(_ number: Int) -> String { place.map { "\($0).\(number)" } ?? "\(number)" }

    /// The name of the hidden field with the number of rows.
    var countName: String { place.map(FormValues.count) ?? "n" }
    /// The name of the hidden field with the version that a row was filled from.
    func versionName(_ number: Int) -> String { "v.\(path(number))" }

    func control(_ field: ResourceField, _ number: Int, title: String? = nil) -> FormField? {
        FormField(field, at: "\(path(number)).\(field.name)", title: title)
    }

    /// The submitted rows, without those whose objects were already gone.
    /// - Throws: ``RequestFailure`` with status 400 for an impossible number of rows.
    func sent() throws -> [Row] {
        let form = FormValues(edit.request.form)
        let maximum = Self.maximumRowCount + Self.newRowCount
        guard let count = form[countName].flatMap(Int.init), (0...maximum).contains(count) else {
            throw RequestFailure(
                .badRequest, "The form doesn't say how many rows it has, or there are more than \(maximum).",
                hint: "Load the page again.")
        }
        let title = ClassTitle.field(of: type, view)
        return (0..<count).compactMap { number in
            guard let id = form[FormValues.identity(path(number))], let version = form[versionName(number)] else {
                return nil
            }
            var row = Row(id: id, title: id, version: version, was: [:], entered: [:])
            for field in fields {
                let control = control(field, number)
                row.was[field.name] = FormField.value(control.flatMap { form[$0.wasName] })
                row.entered[field.name] = control.flatMap { form[$0.name] }
            }
            row.title = PanelResource.title(title.flatMap { row.was[$0.name] }, id: id)
            return row
        }
    }

    /// The resource object for a row's changes; nil if nothing was entered.
    func document(_ row: Row) -> JSON? { edit.document(setting: row.isNew ? new(row) : changed(row)) }

    private func changed(_ row: Row) -> [(field: FormField, value: JSON)] {
        fields.compactMap { FormField($0) }.compactMap { field in
            guard let entered = row.entered[field.field.name] else { return nil }
            let was = row.was[field.field.name] ?? .null
            let json = field.json(entered, was: was)
            return json == was ? nil : (field, json)
        }
    }

    private func new(_ row: Row) -> [(field: FormField, value: JSON)] {
        let entered: [(field: FormField, value: JSON)] = fields.compactMap { FormField($0) }.compactMap { field in
            let json = field.json(row.entered[field.field.name] ?? "", was: .null)
            return json == .null ? nil : (field, json)
        }
        guard !entered.isEmpty else { return [] }
        return entered + given.filter { one in !entered.contains { $0.field.name == one.field.name } }
    }
}
