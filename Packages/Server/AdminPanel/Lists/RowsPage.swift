import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// The rows of a list with controls instead of values, followed by empty rows for new objects; a single button saves
/// them all. Each row is saved separately if it still has the version that the page shows, so that a row that can't be
/// saved doesn't hold up the others.
struct RowsPage {
    private static let template = PanelTemplate(PackageResources.rows_mustache)

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType

    static func path(of type: ResourceType) -> String { "\(AdminPanel.path)/rows/\(type.name)" }

    /// The columns of a list that can be edited.
    static func fields(_ list: ListRequest) -> [ResourceField] { RowsTable.columns(among: list.columns) }

    /// Whether objects of a class have any fields that can be edited in a list.
    static func isPossible(_ type: ResourceType, _ view: CallerView) -> Bool {
        !RowsTable.columns(among: view.fields(of: type)).isEmpty
    }

    var edit: EditPage { EditPage(request: request, view: view, type: type) }
    var query: String { request.request.uri.query.map { "?\($0)" } ?? "" }

    /// The table for a list. New objects get the values that the list is filtered by: an object added to the sessions
    /// of an event belongs to that event.
    func table(_ list: ListRequest) -> RowsTable {
        let filters = list.parameters.all.filter { $0.family == "filter" && $0.keys.count == 1 }
        let filtered: [(field: FormField, value: JSON)] = edit.fields.compactMap { field in
            guard let filter = filters.first(where: { $0.keys[0] == field.field.name }) else { return nil }
            let json = field.json(filter.value, was: .null)
            // In a conditional expression, a literal nil would become JSON's null.
            guard json != .null else { return nil }
            return (field, json)
        }
        return RowsTable(edit: edit, fields: Self.fields(list), fixed: filtered)
    }

    // MARK: Showing

    func answer() async throws -> PanelAnswer {
        let list = try ListRequest(request, type, view)
        let table = table(list)
        guard !table.fields.isEmpty else {
            return .redirect(
                to: ClassPages.path(of: type) + query,
                notice: PanelNotice(
                    localized("None of these columns can be edited in the list. Choose others under Columns.")))
        }
        let (rows, isMore) = try await table.read(list.query, narrowing: list.narrowing)
        let isCut = isMore && rows.count < list.query.page.size
        return .page(try await shown(rows + table.newRows, table, list, isCut: isCut))
    }

    /// `3 sessions were saved.`
    func savedText(_ count: Int) -> String {
        let objects = Counted.objects(count, of: type.item.name)
        return localized(count, one: "\(objects) was saved.", other: "\(objects) were saved.")
    }

    /// - Parameters:
    ///   - isCut: whether the page of the list has more rows.
    ///   - saved: how many rows have been saved; nil if saving wasn't attempted.
    func shown(
        _ rows: [RowsTable.Row], _ table: RowsTable, _ list: ListRequest, isCut: Bool = false, saved: Int? = nil
    ) async throws -> PanelPage {
        let plural = ClassTitle.plural(of: type)
        let problems = table.problems(rows)
        let missing = table.missing ?? []
        let filters = try await FilterForm(
            view: view, type: type, list: list, reader: RecordReader(view: view, pool: request.core.pool)
        ).chips(Self.path(of: type)).compactMap { $0["text"] as? String }
        let content = Self.template.render([
            "formToken": request.visit.token.formToken, "seed": edit.keys.seed.stringValue,
            "action": Self.path(of: type) + query,
            "tableHTML": try await table.html(rows, caption: plural),
            "filters": filters.joined(separator: "; "), "isFiltered": !filters.isEmpty,
            "missing": missing.map { ClassTitle.words($0.name) }.joined(separator: ", "), "isMissing": !missing.isEmpty,
            "cancel": ClassPages.path(of: type) + query,
            "hasRows": !rows.isEmpty, "maximum": rows.count { !$0.isNew }, "isCut": isCut,
            "hasNew": rows.contains(where: \.isNew),
            "hasProblems": !problems.isEmpty,
            "saved": saved.map { savedText($0) } ?? "",
            "problems": problems,
        ])
        return PanelPage(
            localized("Edit \(ClassTitle.inSentence(plural))"),
            crumbs: [PanelPage.Crumb(title: plural, path: ClassPages.path(of: type) + query)], content: content,
            status: problems.isEmpty ? .ok : .unprocessableContent)
    }
}
