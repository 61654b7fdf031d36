import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The controls of single values.
extension EditPage {
    /// The control for a field, for the template `control`.
    func control(
        _ field: FormField, _ content: Content, isNew: Bool, _ choices: FormChoices
    ) async throws -> [String: Any] {
        let name = field.field.name
        var values = try await control(
            field, content.entered[name] ?? "", content, isRequired: isNew && field.field.isRequiredOnCreation,
            canBeEmpty: isNew, choices)
        if !isNew { values["was"] = ["name": field.wasName, "value": CellText.compact(content.was[name] ?? .null)] }
        return values
    }

    /// A control anywhere in a form.
    /// - Parameters:
    ///   - canBeEmpty: whether the control may still be without a value.
    ///   - isCell: whether it's in a table's column, whose heading already has the field's hint.
    func control(
        _ field: FormField, _ entered: String, _ content: Content, isRequired: Bool, canBeEmpty: Bool,
        isCell: Bool = false, _ choices: FormChoices
    ) async throws -> [String: Any] {
        var values: [String: Any] = [
            "name": field.name, "id": "f-\(field.path)", "label": field.title, "value": entered,
            "isOptional": field.field.isOptional, "isRequired": isRequired,
        ]
        let wrong = content.problems.filter { $0.formPath == field.path }
        if !wrong.isEmpty {
            values["hasWrong"] = true
            values["wrong"] = wrong.map { problem in
                ["text": problem.hint.map { "\(problem.message) \($0)" } ?? problem.message]
            }
        }
        switch field.control {
        case .text where fixedValues(of: field) != nil, .number where fixedValues(of: field) != nil:
            let known = fixedValues(of: field) ?? []
            let isKnown = entered.isEmpty || known.contains { $0.hasBytes(of: entered) }
            let others = isKnown ? [] : [entered]
            values["hasOptions"] = true
            values["options"] =
                (field.field.isOptional || entered.isEmpty ? [noOption(entered)] : [])
                + (others + known).map { option($0, $0, entered) }
        case .text, .longText:
            let isMarkdown = field.field.isMarkdown && !isCell
            let isLong = isMarkdown || entered.utf8.count > 80 || entered.contains(where: \.isNewline)
            values["isMarkdown"] = isMarkdown
            values[isLong ? "longText" : "text"] = true
        case .number: values["number"] = true
        case .truth:
            values["hasOptions"] = true
            values["options"] =
                (field.field.isOptional || canBeEmpty || entered.isEmpty ? [noOption(entered)] : [])
                + [option("true", localized("Yes"), entered), option("false", localized("No"), entered)]
        case .time:
            // A value that the time control can't represent gets a text control; the browser would show nothing
            // otherwise.
            let fits = entered.isEmpty || FormField.localTime(entered + "Z") != nil || entered.utf8.count == 16
            values[fits ? "time" : "text"] = true
            values["hint"] = fits ? localized("In UTC.") : localized("In UTC, such as 2026-05-14T13:22:18Z.")
        case .link(let index):
            guard let target = view.types[index] else { break }
            try await choose(target, field, content, entered, choices, &values)
        }
        if !isCell, let hint = field.field.hint.map(localizedText) {
            values["hint"] = (values["hint"] as? String).map { "\(hint) \($0)" } ?? hint
        }
        values["hasDescription"] = values["hint"] != nil || !wrong.isEmpty
        if isCell || field.path == field.field.name {
            request.core.fieldStyles.control(field, entered, of: type, isCell: isCell, &values)
        }
        return values
    }

    /// The values that a field is limited to: those of an enumeration or, if the rules list them, the roles of a class
    /// that grants roles.
    private func fixedValues(of field: FormField) -> [String]? {
        if let values = field.fixedValues { return values }
        guard field.path == field.field.name else { return nil }
        return view.rules.grantColumns.first {
            $0.classIndex == type.classIndex && $0.roleColumn == field.field.column
        }?.roles
    }

    func option(_ value: String, _ title: String, _ entered: String) -> [String: Any] {
        ["value": value, "title": title, "isChosen": value.hasBytes(of: entered)]
    }

    /// The option for no value.
    func noOption(_ entered: String) -> [String: Any] { option("", localized("none"), entered) }

    /// The control for a link: all targets if there are few, otherwise a search with its results.
    private func choose(
        _ target: ResourceType, _ field: FormField, _ content: Content, _ entered: String, _ choices: FormChoices,
        _ values: inout [String: Any]
    ) async throws {
        let none = field.field.isOptional || entered.isEmpty ? [noOption(entered)] : []
        let options = try await offered(target, at: field.path, content, choices, keeping: entered, &values)
        values["hasOptions"] = true
        values["options"] = none + options.map { option($0.id, $0.title, entered) }
        let dependents = dependents(on: field, content)
        if !dependents.isEmpty {
            values["narrows"] = [
                "find": field.path, "fields": dependents.map { ClassTitle.words($0.name) }.joined(separator: ", "),
            ]
        }
    }

    /// The fields of the form whose choosers depend on the value of one of the object's own links.
    private func dependents(on field: FormField, _ content: Content) -> [ResourceField] {
        guard field.path == field.field.name else { return [] }
        return ChoiceNarrowing.dependents(on: field.field, of: type, view).filter {
            FormField($0) != nil || content.entries[$0.name] != nil
        }
    }

    /// What a chooser offers: all objects if there are few, or the results of a search. Both are limited to objects
    /// that fit the values of links shared with the form's object.
    /// - Parameters:
    ///   - chosen: the id that is offered in any case because it's chosen already; empty for none.
    ///   - others: ids that aren't offered because the list has them already.
    func offered(
        _ target: ResourceType, at path: String, _ content: Content, _ choices: FormChoices, keeping chosen: String,
        without others: [String] = [], _ values: inout [String: Any]
    ) async throws -> [RecordReader.Choice] {
        let narrowing = ChoiceNarrowing(at: path, of: type, view, content.entered)
        var options: [RecordReader.Choice]
        let isListed = { (id: String) in others.contains { $0.hasBytes(of: id) } }
        if let few = try await choices.few(of: target, reader, narrowing) {
            options = few.filter { !isListed($0.id) }
            if let chosen = narrowing.chosen {
                values["hint"] =
                    few.isEmpty
                    ? localized("There are none of the chosen \(chosen).")
                    : localized("Only those of the chosen \(chosen).")
            }
        } else {
            options = try await found(target, at: path, content, narrowing, without: others, &values)
        }
        if !chosen.isEmpty, !isListed(chosen), !options.contains(where: { $0.id.hasBytes(of: chosen) }) {
            // An object that the caller may not see is shown as its id.
            let title = try await choices.titles(of: target, among: [chosen], reader)[chosen]
            options.insert(RecordReader.Choice(id: chosen, title: title ?? chosen), at: 0)
        }
        return try await choices.toldApart(options, of: target, narrowing, reader)
    }

    /// The results of the search in a chooser of many objects.
    private func found(
        _ target: ResourceType, at path: String, _ content: Content, _ narrowing: ChoiceNarrowing,
        without others: [String], _ values: inout [String: Any]
    ) async throws -> [RecordReader.Choice] {
        let search = content.searches[path]
        values["search"] = [
            "name": "q.\(path)", "id": "q-\(path)", "value": search ?? "", "find": path,
            "plural": ClassTitle.plural(of: target),
        ]
        guard let search else { return [] }
        let left = Predicate.isIn(PropertyPath(target.key.name), others.compactMap(target.keyValue))
        let filter = Predicate.all([
            narrowing.predicate, others.isEmpty ? .constant(true) : .not(left),
            ListRequest.predicate(search, target, view.fields(of: target)),
        ])
        let found = try await reader.choices(of: target, matching: filter, limit: RecordReader.foundCount)
        if found.isEmpty {
            values["hint"] =
                narrowing.chosen.map { localized("Nothing was found for '\(search)' among those of the chosen \($0).") }
                ?? localized("Nothing was found for '\(search)'.")
        }
        return found
    }
}
