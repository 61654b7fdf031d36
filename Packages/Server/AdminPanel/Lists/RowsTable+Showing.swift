import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloLocalization

extension RowsTable {
    private static let template = PanelTemplate(PackageResources.rows_table_mustache)
    private static let controlTemplate = PanelTemplate(PackageResources.control_mustache)

    /// The anchor for messages about a row.
    private func anchor(_ number: Int) -> String { "r-\(path(number))" }

    /// The table, as part of a form. Without rows, it's only the hidden field with the number 0.
    func html(_ rows: [Row], caption: String) async throws -> PanelHTML {
        let choices = FormChoices()
        var shown: [[String: Any]] = []
        for (number, row) in numbered(rows).enumerated() {
            var cells: [[String: Any]] = []
            for field in fields { cells.append(try await cell(field, number, row, choices)) }
            let general = row.problems.filter { problem in !fields.contains { $0.name == problem.fieldName } }
            var values: [String: Any] = [
                "title": row.title, "cells": cells, "row": anchor(number),
                "wrong": general.map { problem in
                    ["text": problem.hint.map { "\(problem.message) \($0)" } ?? problem.message]
                },
                "hasWrong": !general.isEmpty,
            ]
            if !row.isNew, !row.isGone { values["path"] = ClassPages.path(of: type, id: row.id) }
            if !row.isGone {
                values["hidden"] = [
                    ["name": FormValues.identity(path(number)), "value": row.id],
                    ["name": versionName(number), "value": row.version],
                ]
            }
            shown.append(values)
        }
        return Self.template.render([
            "rows": shown, "hasRows": !rows.isEmpty, "countName": countName, "count": rows.count, "caption": caption,
            "headers": fields.map { header($0, hasNew: rows.contains(where: \.isNew)) },
        ])
    }

    private func header(_ field: ResourceField, hasNew: Bool) -> [String: Any] {
        var values: [String: Any] = [
            "title": ClassTitle.words(field.name), "isRequired": hasNew && isRequiredOfNew(field),
        ]
        if let hint = field.hint { values["hint"] = localizedText(hint) }
        return values
    }

    /// Whether a row for a new object requires the field.
    private func isRequiredOfNew(_ field: ResourceField) -> Bool {
        field.isRequiredOnCreation && !given.contains { $0.field.field.name == field.name }
    }

    /// The problems of rows, for the list above the form: `field` with the row's title, `anchor` of the control or else
    /// of the row, `text`, and `hint` if there is one.
    func problems(_ rows: [Row]) -> [[String: Any]] {
        numbered(rows).enumerated().flatMap { number, row in
            row.problems.map { problem in
                var item: [String: Any] = ["field": row.title, "anchor": anchor(number), "text": problem.message]
                if let field = fields.first(where: { $0.name == problem.fieldName }) {
                    item["field"] = "\(row.title), \(ClassTitle.words(field.name))"
                    item["anchor"] = "f-\(path(number)).\(field.name)"
                }
                if let hint = problem.hint { item["hint"] = hint }
                return item
            }
        }
    }

    private func cell(
        _ field: ResourceField, _ number: Int, _ row: Row, _ choices: FormChoices
    ) async throws -> [String: Any] {
        let title = ClassTitle.words(field.name)
        guard let control = control(field, number, title: localized("\(title) of \(row.title)")) else { return [:] }
        guard row.isNew || row.entered[field.name] != nil else {
            return ["label": title, "tooLong": CellText.value(nil, field)["text"] ?? ""]
        }
        var content = EditPage.Content()
        content.problems = row.problems.filter { $0.fieldName == field.name }.map { problem in
            var problem = problem
            problem.source = .pointer("/data/attributes/\(control.path.replacing(".", with: "/"))")
            return problem
        }
        let isRequired = row.isNew && isRequiredOfNew(field)
        let values = try await edit.control(
            control, row.entered[field.name] ?? "", content, isRequired: isRequired, canBeEmpty: row.isNew,
            isCell: true, choices)
        var cell: [String: Any] = [
            "controlHTML": Self.controlTemplate.render(values),
            "label": isRequired ? localized("\(title) (required)") : title,
        ]
        if !row.isNew {
            cell["was"] = ["name": control.wasName, "value": CellText.compact(row.was[field.name] ?? .null)]
        }
        if let theirs = row.theirs[field.name] { cell["theirs"] = theirs }
        return cell
    }
}
