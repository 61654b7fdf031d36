import Foundation
import HTTPTypes
import Hummingbird
import PostgresClient
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// The rows of a list with controls instead of values, and empty ones for new objects, saved together. Each row is saved by
/// itself, if it still has the version that the page shows, so that one that can't be saved keeps none of the others back.
struct RowsPage {
    /// Rows of a page, from the list's first on.
    static let maximumRowCount = 50
    static let maximumColumnCount = 12
    /// Empty rows for new objects, below the others.
    static let newRowCount = 3
    private static let template = PanelTemplate(PackageResources.rows_mustache)
    private static let controlTemplate = PanelTemplate(PackageResources.control_mustache)
    static let countField = "n"

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType

    static func path(of type: ResourceType) -> String { "\(AdminPanel.path)/rows/\(type.name)" }

    /// The columns of a list that can be edited in it: values that one control holds.
    static func fields(_ list: ListRequest) -> [ResourceField] {
        Array(list.columns.filter { !$0.isRelationship && FormField($0) != nil }.prefix(maximumColumnCount))
    }

    /// Whether objects of a class have anything that can be edited in a list.
    static func isPossible(_ type: ResourceType, _ view: CallerView) -> Bool {
        view.fields(of: type).contains { !$0.isRelationship && FormField($0) != nil }
    }

    /// A row as the page has it.
    struct Row {
        /// Empty for a new object.
        let id: String
        var title: String
        var version: String
        var was: [String: JSON]
        var entered: [String: String]
        var problems: [RequestFailure] = []
        /// What somebody else made of a field that was edited here too.
        var theirs: [String: String] = [:]

        var isNew: Bool { id.isEmpty }
    }

    var edit: EditPage { EditPage(request: request, view: view, type: type) }
    var query: String { request.request.uri.query.map { "?\($0)" } ?? "" }

    // MARK: Showing

    func answer() async throws -> PanelAnswer {
        let list = try ListRequest(request, type, view)
        let fields = Self.fields(list)
        guard !fields.isEmpty else {
            return .redirect(
                to: ClassPages.path(of: type) + query,
                notice: PanelNotice("None of these columns can be edited in the list. Choose others under Columns."))
        }
        var query = list.query
        // A version is of everything.
        query.fields[type.name] = nil
        query.includes = []
        let page = try await ResourceReader(view: view).page(
            type, query, narrowing: list.narrowing, request.core.pool)
        let rows = try page.resources.prefix(Self.maximumRowCount).map { try row(PanelResource($0), fields) }
        return .page(try await shown(rows + newRows(fields, list), fields, list))
    }

    func row(_ resource: PanelResource, _ fields: [ResourceField]) -> Row {
        var row = Row(
            id: resource.id, title: resource.title(ClassTitle.field(of: type, view)),
            version: resource.version ?? "", was: [:], entered: [:])
        for field in fields.compactMap({ FormField($0) }) {
            let json = resource.attribute(field.field.name) ?? .null
            row.was[field.field.name] = json
            row.entered[field.field.name] = field.text(json)
        }
        return row
    }

    /// - Parameter saved: rows that were saved by now; nil if none was tried.
    func shown(
        _ rows: [Row], _ fields: [ResourceField], _ list: ListRequest, saved: Int? = nil
    ) async throws -> PanelPage {
        let rows = numbered(rows)
        let choices = FormChoices()
        var shown: [[String: Any]] = []
        for (number, row) in rows.enumerated() {
            var cells: [[String: Any]] = []
            for field in fields { cells.append(try await cell(field, number, row, choices)) }
            let general = row.problems.filter { problem in !fields.contains { $0.name == problem.fieldName } }
            shown.append([
                "title": row.title, "path": row.isNew ? "" : ClassPages.path(of: type, id: row.id),
                "isNew": row.isNew, "cells": cells, "id": row.id,
                "idName": "i.\(number)", "version": row.version, "versionName": "v.\(number)", "row": "r-\(number)",
                "wrong": general.map { problem in
                    ["text": problem.hint.map { "\(problem.message) \($0)" } ?? problem.message]
                },
                "hasWrong": !general.isEmpty,
            ])
        }
        let plural = ClassTitle.plural(of: type)
        let failed = rows.enumerated().filter { !$1.problems.isEmpty }
        let missing = missingForNewRows(fields, list) ?? []
        let filters = try await FilterForm(
            view: view, type: type, list: list, reader: RecordReader(view: view, pool: request.core.pool)
        ).chips(Self.path(of: type)).compactMap { $0["text"] as? String }
        let content = Self.template.render([
            "formToken": request.visit.token.formToken, "action": Self.path(of: type) + query, "rows": shown,
            "filters": filters.joined(separator: "; "), "isFiltered": !filters.isEmpty,
            "missing": missing.map { ClassTitle.words($0.name) }.joined(separator: ", "), "isMissing": !missing.isEmpty,
            "cancel": ClassPages.path(of: type) + query, "countName": Self.countField, "count": rows.count,
            "headers": fields.map { ClassTitle.words($0.name) }, "plural": plural,
            "hasRows": !rows.isEmpty, "maximum": Self.maximumRowCount,
            "isCut": rows.count { !$0.isNew } == Self.maximumRowCount, "hasNew": rows.contains(where: \.isNew),
            "hasFailed": !failed.isEmpty,
            "saved": saved.map { "\(Counted.objects($0, of: type.item.name)) \(Counted.were($0)) saved." } ?? "",
            "failed": failed.map { number, row in
                ["title": row.title, "row": "r-\(number)", "text": row.problems.map(\.message).joined(separator: " ")]
            },
        ])
        return PanelPage(
            "Edit \(ClassTitle.inSentence(plural))",
            crumbs: [PanelPage.Crumb(title: plural, path: ClassPages.path(of: type) + query)], content: content,
            status: failed.isEmpty ? .ok : .unprocessableContent)
    }

    private func cell(
        _ field: ResourceField, _ number: Int, _ row: Row, _ choices: FormChoices
    ) async throws -> [String: Any] {
        let title = ClassTitle.words(field.name)
        guard let control = FormField(field, at: "\(number).\(field.name)", title: "\(title) of \(row.title)") else {
            return [:]
        }
        var content = EditPage.Content()
        content.problems = row.problems.filter { $0.fieldName == field.name }.map { problem in
            var problem = problem
            problem.source = .pointer("/data/attributes/\(number)/\(field.name)")
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
