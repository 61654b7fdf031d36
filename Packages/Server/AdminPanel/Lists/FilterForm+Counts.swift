import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The number of objects in a list for each value of fields that have few values.
extension FilterForm {
    /// How many fields are counted, each by its own statement.
    static let maximumCountedFieldCount = 5
    /// Fields with more values aren't counted.
    static let maximumCountedValueCount = RecordReader.choiceCount

    /// For each value of a field, the number of objects under the list's search and the filters of other fields, and
    /// the address of the list filtered to this value. The fields in the list's columns come first.
    func counts(_ path: String, _ resources: ResourceReader) async throws -> [[String: Any]] {
        var counted: [[String: Any]] = []
        for field in fieldsInOrder where counted.count < Self.maximumCountedFieldCount {
            guard let resource = field.resource, let few = try await few(field), Self.isCounted(field, few) else {
                continue
            }
            counted.append(try await counts(field, resource, few, path, resources))
        }
        return counted
    }

    /// Whether the number of objects for each value of a field can be shown.
    static func isCounted(_ field: Field, _ few: [RecordReader.Choice]) -> Bool {
        field.resource != nil && few.count <= maximumCountedValueCount
    }

    private var fieldsInOrder: [Field] {
        let fields = fields
        let columns = list.columns.compactMap { column in fields.first { $0.name == column.name } }
        // An address may name a column twice.
        var seen: Set<String> = []
        return (columns + fields).filter { seen.insert($0.name).inserted }
    }

    private func counts(
        _ field: Field, _ resource: ResourceField, _ few: [RecordReader.Choice], _ path: String,
        _ resources: ResourceReader
    ) async throws -> [String: Any] {
        let choices = few.compactMap { choice in
            ValueText.value(choice.id, field.path.type).map { (choice: choice, value: $0) }
        }
        let others = try ResourceQuery(
            list.parameters.filters(butOf: field.name), .selection, of: type, for: view)
        let found = try await resources.patientCounts(
            type, of: resource, among: choices.map(\.value), matching: .all([list.narrowing, others.filter]),
            reader.pool)
        var values: [[String: Any]] = []
        func add(_ text: String, _ count: Int, _ test: FilterTest, _ value: String, isCurrent: Bool) {
            guard count > 0 || isCurrent else { return }
            let own = list.parameters.filters(of: field.name).map { (name: $0.name, value: String?.none) }
            values.append([
                "text": text, "count": PanelNumber.text(count), "isCurrent": isCurrent,
                "address": list.address(
                    path, Self.asked + Self.pages + own + [(name: test.parameterName(field.name), value: value)]),
            ])
        }
        if let found {
            for (choice, value) in choices {
                let isCurrent = isFiltered(field) { $0 == .eq && ValueText.value($1, field.path.type) == value }
                add(choice.title, found.counts[value] ?? 0, .eq, choice.id, isCurrent: isCurrent)
            }
            let isCurrent = isFiltered(field) { test, _ in test == .isNull }
            add(localized("none"), found.none, .isNull, "true", isCurrent: isCurrent)
            if found.others > 0 {
                values.append([
                    "text": localized("other values"), "count": PanelNumber.text(found.others), "isCurrent": false,
                ])
            }
        }
        return [
            "name": field.name, "title": Self.title(field.name), "values": values, "hasValues": !values.isEmpty,
            "isSlow": found == nil,
        ]
    }

    private func isFiltered(_ field: Field, by isIt: (FilterTest, String) -> Bool) -> Bool {
        list.parameters.filters(of: field.name).contains { parameter in
            FilterTest(parameter).map { isIt($0, parameter.value) } ?? false
        }
    }
}
