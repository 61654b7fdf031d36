import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

extension RowsTable {
    private static let template = PanelTemplate(PackageResources.rows_table_mustache)
    private static let controlTemplate = PanelTemplate(PackageResources.control_mustache)

    /// Where messages about a row lead.
    private func anchor(_ number: Int) -> String { "r-\(path(number))" }

    /// The table, for a form. Without rows it's only the field that says so.
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
            "headers": fields.map { ClassTitle.words($0.name) },
        ])
    }

    /// The rows that weren't saved, for a list of messages: `title`, `row` and `text`.
    func failed(_ rows: [Row]) -> [[String: Any]] {
        numbered(rows).enumerated().filter { !$1.problems.isEmpty }.map { number, row in
            ["title": row.title, "row": anchor(number), "text": row.problems.map(\.message).joined(separator: " ")]
        }
    }

    private func cell(
        _ field: ResourceField, _ number: Int, _ row: Row, _ choices: FormChoices
    ) async throws -> [String: Any] {
        let title = ClassTitle.words(field.name)
        guard let control = control(field, number, title: "\(title) of \(row.title)") else { return [:] }
        var content = EditPage.Content()
        content.problems = row.problems.filter { $0.fieldName == field.name }.map { problem in
            var problem = problem
            problem.source = .pointer("/data/attributes/\(control.path.replacing(".", with: "/"))")
            return problem
        }
        let values = try await edit.control(
            control, row.entered[field.name] ?? "", content, isRequired: false, canBeEmpty: row.isNew, choices)
        var cell: [String: Any] = [
            "controlHTML": Self.controlTemplate.render(values), "label": title,
        ]
        if !row.isNew {
            cell["was"] = ["name": control.wasName, "value": CellText.compact(row.was[field.name] ?? .null)]
        }
        if let theirs = row.theirs[field.name] { cell["theirs"] = theirs }
        return cell
    }
}
