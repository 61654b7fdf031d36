import Foundation
import HTTPTypes
import Hummingbird
import PostgresClient
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// The rows of a list with controls instead of values, saved together. Each row is saved by itself, if it still has the
/// version that the page shows, so that one that can't be saved keeps none of the others back.
struct RowsPage {
    /// Rows of a page, from the list's first on.
    static let maximumRowCount = 50
    static let maximumColumnCount = 12
    private static let template = PanelTemplate(PackageResources.rows_mustache)
    private static let controlTemplate = PanelTemplate(PackageResources.control_mustache)
    private static let countField = "n"

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType

    static func path(of type: ResourceType) -> String { "\(AdminPanel.path)/rows/\(type.name)" }

    /// The columns of a list that can be edited in it: values that one control holds.
    static func fields(_ list: ListRequest) -> [ResourceField] {
        Array(list.columns.filter { !$0.isRelationship && FormField($0) != nil }.prefix(maximumColumnCount))
    }

    /// A row as the page has it.
    struct Row {
        let id: String
        var title: String
        var version: String
        var was: [String: JSON]
        var entered: [String: String]
        var problems: [RequestFailure] = []
        /// What somebody else made of a field that was edited here too.
        var theirs: [String: String] = [:]
    }

    private var edit: EditPage { EditPage(request: request, view: view, type: type) }
    private var query: String { request.request.uri.query.map { "?\($0)" } ?? "" }

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
        return .page(try await shown(rows, fields))
    }

    private func row(_ resource: PanelResource, _ fields: [ResourceField]) -> Row {
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
    private func shown(_ rows: [Row], _ fields: [ResourceField], saved: Int? = nil) async throws -> PanelPage {
        let choices = FormChoices()
        var shown: [[String: Any]] = []
        for (number, row) in rows.enumerated() {
            var cells: [[String: Any]] = []
            for field in fields { cells.append(try await cell(field, number, row, choices)) }
            let general = row.problems.filter { problem in !fields.contains { $0.name == problem.fieldName } }
            shown.append([
                "title": row.title, "path": ClassPages.path(of: type, id: row.id), "cells": cells, "id": row.id,
                "idName": "i.\(number)", "version": row.version, "versionName": "v.\(number)", "row": "r-\(number)",
                "wrong": general.map { problem in
                    ["text": problem.hint.map { "\(problem.message) \($0)" } ?? problem.message]
                },
                "hasWrong": !general.isEmpty,
            ])
        }
        let plural = ClassTitle.plural(of: type)
        let failed = rows.enumerated().filter { !$1.problems.isEmpty }
        let content = Self.template.render([
            "formToken": request.visit.token.formToken, "action": Self.path(of: type) + query, "rows": shown,
            "cancel": ClassPages.path(of: type) + query, "countName": Self.countField, "count": rows.count,
            "headers": fields.map { ClassTitle.words($0.name) }, "plural": plural,
            "hasRows": !rows.isEmpty, "maximum": Self.maximumRowCount, "isCut": rows.count == Self.maximumRowCount,
            "hasFailed": !failed.isEmpty,
            "saved": saved.map { "\(Counted.objects($0, of: type.item.name)) \(Counted.were($0)) saved." } ?? "",
            "failed": failed.map { number, row in
                ["title": row.title, "row": "r-\(number)", "text": row.problems.map(\.message).joined(separator: " ")]
            },
        ])
        return PanelPage(
            "Edit \(plural.prefix(1).lowercased())\(plural.dropFirst())",
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
            control, row.entered[field.name] ?? "", content, isRequired: false, canBeEmpty: false, choices)
        var cell: [String: Any] = [
            "controlHTML": Self.controlTemplate.render(values), "label": title, "name": control.wasName,
            "was": CellText.compact(row.was[field.name] ?? .null),
        ]
        if let theirs = row.theirs[field.name] { cell["theirs"] = theirs }
        return cell
    }

    // MARK: Saving

    func save() async throws -> PanelAnswer {
        let fields = Self.fields(try ListRequest(request, type, view))
        var rows = try sent(fields)
        var saved = 0
        for index in rows.indices {
            guard let document = document(rows[index], fields), let key = type.keyValue(rows[index].id) else {
                continue
            }
            do {
                try await write(document, key, rows[index].version)
                saved += 1
                rows[index] = try await current(rows[index], fields)
            } catch let failure as RequestFailure {
                rows[index] = try await refused(rows[index], fields, failure)
            }
        }
        guard rows.contains(where: { !$0.problems.isEmpty }) else {
            let text =
                saved == 0
                ? "Nothing was changed." : "\(Counted.objects(saved, of: type.item.name)) \(Counted.were(saved)) saved."
            return .redirect(to: ClassPages.path(of: type) + query, notice: PanelNotice(text))
        }
        return .page(try await shown(rows, fields, saved: saved))
    }

    private func sent(_ fields: [ResourceField]) throws -> [Row] {
        let form = FormValues(request.form)
        guard let count = form[Self.countField].flatMap(Int.init), (0...Self.maximumRowCount).contains(count) else {
            throw RequestFailure(
                .badRequest, "The form doesn't say how many rows it has, or they're more than \(Self.maximumRowCount).",
                hint: "Load the list again.")
        }
        return (0..<count).compactMap { number in
            guard let id = form["i.\(number)"], let version = form["v.\(number)"] else { return nil }
            var row = Row(id: id, title: id, version: version, was: [:], entered: [:])
            for field in fields {
                let control = FormField(field, at: "\(number).\(field.name)")
                row.was[field.name] = FormField.value(control.flatMap { form[$0.wasName] })
                row.entered[field.name] = control.flatMap { form[$0.name] }
            }
            return row
        }
    }

    /// The resource object of what was changed in a row; nil if nothing was.
    private func document(_ row: Row, _ fields: [ResourceField]) -> JSON? {
        edit.document(
            setting: fields.compactMap { field in
                guard let control = FormField(field), let entered = row.entered[field.name] else { return nil }
                let was = row.was[field.name] ?? .null
                let json = control.json(entered, was: was)
                return json == was ? nil : (control, json)
            })
    }

    private func write(_ document: JSON, _ key: Value, _ version: String) async throws {
        let pointer = RequestPointer() / "data"
        var change = ResourceChange(type, view)
        change.read(document, at: pointer)
        try change.check()
        let (checked, writer) = (change, ResourceWriter(view: view, moveToTrash: EditPage.move(request.core)))
        _ = try await request.core.pool.transaction { connection in
            try await writer.update(checked, key: key, ifMatch: "\"\(version)\"", at: pointer, connection)
        }
    }

    /// A row as it is now, or as it was sent if it can't be seen any more.
    private func current(_ row: Row, _ fields: [ResourceField]) async throws -> Row {
        guard let key = type.keyValue(row.id),
            let found = try await ResourceReader(view: view).single(type, key: key, ResourceQuery(), request.core.pool)
        else { return row }
        return self.row(try PanelResource(found.resource), fields)
    }

    /// A row that wasn't saved: with what was entered, and for the next try with the version that it has now.
    private func refused(_ row: Row, _ fields: [ResourceField], _ failure: RequestFailure) async throws -> Row {
        var result = try await current(row, fields)
        result.entered = row.entered
        result.problems = [failure] + failure.others
        guard failure.code == .preconditionFailed else { return result }
        result.problems = [
            RequestFailure(
                .preconditionFailed, "Somebody changed it meanwhile.",
                hint: "Look at what it is now. Saving again writes what you have entered.")
        ]
        for field in fields.compactMap({ FormField($0) }) {
            let name = field.field.name
            let (was, now) = (row.was[name] ?? .null, result.was[name] ?? .null)
            guard was != now else { continue }
            // What only somebody else changed is theirs.
            if row.entered[name] == field.text(was) {
                result.entered[name] = field.text(now)
            } else {
                result.theirs[name] = CellText.value(now, field.field)["text"] as? String ?? ""
            }
        }
        return result
    }
}
