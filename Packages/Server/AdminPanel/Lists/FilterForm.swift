import Foundation
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// The filters of a list as people enter them: a field, a test that suits it, and a value as they'd write it. The value
/// for a link is its target's title or id.
struct FilterForm {
    let view: CallerView
    let type: ResourceType
    let list: ListRequest
    let reader: RecordReader
    /// The targets that links can have, read once per page.
    let choices = FormChoices()

    /// A submitted filter.
    struct Wish {
        let field: String
        let test: String
        let value: String
    }

    /// The filter to add, if any.
    var wish: Wish? {
        guard let field = list.parameters.value("add-field"), !field.isEmpty else { return nil }
        return Wish(
            field: field, test: list.parameters.value("add-test") ?? FilterTest.eq.rawValue,
            value: list.parameters.value("add-value") ?? "")
    }

    static let pages: [(name: String, value: String?)] = [("page[number]", nil), ("page[after]", nil)]
    static let asked: [(name: String, value: String?)] = [
        ("add-field", nil), ("add-test", nil), ("add-value", nil),
    ]

    // MARK: Adding one

    /// The address of the list with one more filter.
    /// - Throws: ``RequestFailure`` if the test or the value doesn't suit the field.
    func address(adding wish: Wish, _ path: String) async throws -> String {
        let parameter = RequestParameters.Parameter(filtering: wish.field, by: wish.value)
        let field = try FieldPath(wish.field, of: type, view, parameter)
        let title = Self.title(wish.field)
        let tests = FilterTest.fitting(field)
        guard let test = FilterTest(rawValue: wish.test), tests.contains(test) else {
            let titles = tests.map { "'\($0.title(isTime: Self.isTime(field)))'" }.joined(separator: ", ")
            let asked = FilterTest(rawValue: wish.test)?.title(isTime: false) ?? wish.test
            let shown = asked.shortened(toByteCount: 60)
            throw RequestFailure(
                .badRequest, "\(title) can't be tested with '\(shown)'.", hint: "Choose one of \(titles).")
        }
        let value: String
        switch test {
        case .isNull: value = "true"
        case .isNotNull: value = "false"
        case .contains, .startsWith: value = wish.value
        case .in:
            let parts = wish.value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            value = try await values(parts, field, title).joined(separator: ",")
        case .eq, .ne, .lt, .le, .gt, .ge: value = try await values([wish.value], field, title)[0]
        }
        return list.address(path, Self.asked + Self.pages + [(test.parameterName(wish.field), value)])
    }

    /// The API's texts for entered values.
    private func values(_ texts: [String], _ field: FieldPath, _ title: String) async throws -> [String] {
        guard let target = field.target else { return try texts.map { try value($0, field, title) } }
        var values: [String] = []
        var titles: [(place: Int, text: String)] = []
        for text in texts {
            let isKey = ValueText.value(text, field.type) != nil
            let text = isKey ? text : text.trimmingCharacters(in: .whitespaces)
            if !isKey, target.keyValue(text) == nil { titles.append((values.count, text)) }
            values.append(text)
        }
        let ids = try await ids(titles.map(\.text), target, title)
        for (title, id) in zip(titles, ids) { values[title.place] = id }
        return values
    }

    /// The API's text for an entered value that isn't a link's.
    private func value(_ text: String, _ field: FieldPath, _ title: String) throws -> String {
        if ValueText.value(text, field.type) != nil { return text }
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        let found =
            switch field.type {
            case .bool: Self.truth(trimmed)
            case .int, .float, .double, .decimal128: Self.number(trimmed)
            case .date: Self.time(trimmed)
            case .objectId, .uuid: trimmed
            default: text
            }
        guard let found, ValueText.value(found, field.type) != nil else {
            let (shown, expected) = (text.shortened(toByteCount: 60), Self.expected(field.type))
            throw RequestFailure(
                .badRequest, "\(title): '\(shown)' isn't \(expected).", hint: "Enter \(expected).")
        }
        return found
    }

    /// The ids of a link's targets, found by their titles.
    private func ids(_ texts: [String], _ target: ResourceType, _ title: String) async throws -> [String] {
        let plural = ClassTitle.plural(of: target)
        let found = Array(zip(texts, try await reader.ids(of: target, titled: texts)))
        if let (text, _) = found.first(where: { $0.1.count > 1 }) {
            let shown = text.shortened(toByteCount: 60)
            throw RequestFailure(
                .badRequest, "\(title): several of the \(plural) are called '\(shown)'.",
                hint: "Enter the id of the one that you mean.")
        }
        return try found.map { text, ids in
            guard let id = ids.first else {
                let shown = text.shortened(toByteCount: 60)
                throw RequestFailure(
                    .badRequest, "\(title): there is no '\(shown)' among the \(plural).",
                    hint: "Enter its title exactly, or its id.")
            }
            return id
        }
    }

    private static func isTime(_ field: FieldPath) -> Bool { field.target == nil && field.type == .date }

    static func title(_ field: String) -> String { field == "id" ? localized("Id") : ClassTitle.words(field) }

    // MARK: Showing it

    struct Field {
        let name: String
        let path: FieldPath
        let resource: ResourceField?
    }

    var fields: [Field] {
        var fields: [(name: String, field: ResourceField?)] = [("id", nil)]
        fields += view.fields(of: type).map { ($0.name, $0) }
        return fields.compactMap { name, field in
            let parameter = RequestParameters.Parameter(filtering: name, by: "")
            return (try? FieldPath(name, of: type, view, parameter)).map {
                Field(name: name, path: $0, resource: field)
            }
        }
    }

    /// - Parameter problem: why the new filter couldn't be added.
    func values(_ problem: RequestFailure?) async throws -> [String: Any] {
        var options: [[String: Any]] = []
        var lists: [[String: Any]] = []
        var quick: [[String: Any]] = []
        var mayCount = false
        for field in fields {
            let few = try await few(field)
            if let few {
                mayCount = mayCount || Self.isCounted(field, few)
                lists.append(["id": "values-\(field.name)", "values": few.map { ["title": $0.title] }])
                if field.name != "id" { quick.append(self.quick(field, few)) }
            }
            options.append([
                "value": field.name, "title": Self.title(field.name),
                "tests": FilterTest.fitting(field.path).map(\.rawValue).joined(separator: " "),
                "isTime": Self.isTime(field.path), "list": few == nil ? "" : "values-\(field.name)",
                "isChosen": field.name == wish?.field,
            ])
        }
        var values: [String: Any] = [
            "filterFields": options, "filterLists": lists, "quickFilters": quick, "mayCount": mayCount,
            "filterValue": wish?.value ?? "",
            "tests": FilterTest.allCases.map { test -> [String: Any] in
                [
                    "value": test.rawValue, "title": test.title(isTime: false), "isChosen": test.rawValue == wish?.test,
                    "time": test.isTime ? test.title(isTime: true) : "", "takesNone": !test.takesValue,
                ]
            },
        ]
        if let problem {
            values["filterProblem"] = problem.hint.map { "\(problem.message) \($0)" } ?? problem.message
        }
        return values
    }

    /// All values of a field if there are only few: those of an enumeration, of a Boolean, or the objects of a small
    /// class.
    func few(_ field: Field) async throws -> [RecordReader.Choice]? {
        if let target = field.path.target {
            guard let few = try await choices.few(of: target, reader), !few.isEmpty else { return nil }
            return few
        }
        if field.path.isEmbedded { return nil }
        if let allowed = field.resource?.allowedValues {
            return allowed.values.compactMap { ValueText.text($0) }.map { RecordReader.Choice(id: $0, title: $0) }
        }
        guard field.path.type == .bool else { return nil }
        return ["true", "false"].map { RecordReader.Choice(id: $0, title: Self.truthTitle($0)) }
    }

    /// The values for a control that filters by one of a field's few values, without typing.
    private func quick(_ field: Field, _ few: [RecordReader.Choice]) -> [String: Any] {
        let chosen = list.parameters.value("filter[\(field.name)]") ?? ""
        return [
            "name": "is[\(field.name)]", "id": "is-\(field.name)", "title": Self.title(field.name),
            "options": few.map { ["value": $0.id, "title": $0.title, "isChosen": $0.id.hasBytes(of: chosen)] },
        ]
    }

    /// The list's filters, each with the address of the list without it.
    func chips(_ path: String) async throws -> [[String: Any]] {
        var chips: [[String: Any]] = []
        for parameter in list.parameters.all where parameter.family == "filter" && !parameter.keys.isEmpty {
            let field = try? FieldPath(parameter.keys[0], of: type, view, parameter)
            let test = FilterTest(parameter)
            let asked = test?.title(isTime: field.map(Self.isTime) ?? false) ?? parameter.keys.last ?? ""
            let title = Self.title(parameter.keys[0])
            var text = localized("\(title) \(asked)", context: "a field and what is asked of it")
            if test?.takesValue != false {
                let value = try await shown(parameter.value, field, test)
                text = localized("\(title) \(asked) \(value)", context: "a field, what is asked of it, and a value")
            }
            chips.append([
                "text": text.shortened(toByteCount: 120),
                "remove": list.address(path, Self.pages + [(parameter.name, nil)]),
            ])
        }
        return chips
    }

    private func shown(_ value: String, _ field: FieldPath?, _ test: FilterTest?) async throws -> String {
        guard let field else { return value }
        if let target = field.target {
            let ids = test == .in ? value.split(separator: ",").map(String.init) : [value]
            let titles = try await choices.titles(of: target, among: ids, reader)
            return ids.map { titles[$0] ?? $0 }.joined(separator: ", ")
        }
        return field.type == .bool ? Self.truthTitle(value) : value
    }
}
