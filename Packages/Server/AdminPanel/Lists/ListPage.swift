import AdminService
import HTTPTypes
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// The list of a class's objects, as far as the caller may see them.
struct ListPage {
    private static let template = PanelTemplate(PackageResources.list_mustache)
    /// Counting stops here: a larger count takes too long, and paging ends at this offset anyway.
    static let countLimit = ResourceQuery.maximumOffset
    private static let sizes = [25, 50, 100, 200]

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType
    let answers: ListAnswers

    private var path: String { ClassPages.path(of: type) }

    func answer() async throws -> PanelAnswer {
        let list = try ListRequest(request, type, view)
        let filterForm = FilterForm(
            view: view, type: type, list: list, reader: RecordReader(view: view, pool: request.core.pool))
        var problem: RequestFailure?
        if let wish = filterForm.wish {
            do {
                return .redirect(to: try await filterForm.address(adding: wish, path))
            } catch let failure as RequestFailure {
                problem = failure
            }
        } else if let address = list.canonical(path) {
            return .redirect(to: address)
        }
        let reader = ResourceReader(view: view, answers: answers)
        let (query, narrowing) = (list.query, list.narrowing)
        async let found = reader.page(type, query, narrowing: narrowing, request.core.pool)
        async let count = reader.patientCount(
            type, matching: .all([narrowing, query.filter]), limit: Self.countLimit + 1, request.core.pool)
        let counts = list.wantsCounts ? try await filterForm.counts(path, reader) : []
        let (page, total) = (try await found, try await count)
        let filters = try await filterForm.chips(path)
        let plural = ClassTitle.plural(of: type)
        var values: [String: Any] = [
            "plural": plural, "pluralInSentence": ClassTitle.inSentence(plural), "path": path,
            "search": list.search ?? "",
            "hasRows": !page.resources.isEmpty, "total": PanelNumber.text(total, limit: Self.countLimit),
            "isOne": total == 1, "isNarrowed": list.search != nil || !filters.isEmpty, "filters": filters,
            "hasFilters": !filters.isEmpty, "headers": headers(list), "rows": try rows(page, list),
            "others": hidden(list, without: ["q", "page[number]"]),
            "filterOthers": hidden(
                list, without: ["page[number]", "add-field", "add-test", "add-value"]),
            "columnOthers": hidden(list, without: ["columns"]),
            "columns": columnChoices(list), "sizes": sizes(list),
            "sizeOthers": hidden(list, without: ["page[size]", "page[number]"]),
        ]
        values.merge(try await filterForm.values(problem)) { $1 }
        values["counts"] = counts
        values["wantsCounts"] = !counts.isEmpty
        values["countsAddress"] = list.address(
            path, FilterForm.asked + [(ListRequest.countsName, list.wantsCounts ? nil : "1")])
        let views = try await SavedViews.all(of: request.userID, type, request.core.pool)
        let current = list.parameters.query(replacing: [("page[number]", nil), ("page[after]", nil)])
        values["formToken"] = request.visit.token.formToken
        values["viewsPath"] = "\(SavedViews.path)/\(type.name)"
        values["viewQuery"] = current
        values["hasViews"] = !views.isEmpty
        values["views"] = views.map { view -> [String: Any] in
            [
                "name": view.name, "address": view.query.isEmpty ? path : "\(path)?\(view.query)",
                "isCurrent": view.query == current,
            ]
        }
        values["exports"] = ExportPages.links(list, type)
        if let form = ExportPages.form(list, type, view) { values["exportForm"] = form }
        values["api"] = APIPages.path(of: type)
        values.merge(paging(list, page, total)) { $1 }
        if let bulk = try bulk(list, page, total) {
            values["bulk"] = bulk
            values["mayTick"] = true
        }
        if view.refusal(.update, type) == nil, !page.resources.isEmpty, !RowsPage.fields(list).isEmpty {
            values["editRows"] = list.address(RowsPage.path(of: type), [])
        }
        if ImportPages.isPossible(type, for: view) { values["importPath"] = ImportPages.path(of: type) }
        if view.refusal(.create, type) == nil {
            values["singular"] = ClassTitle.inSentence(ClassTitle.singular(of: type))
            values["new"] = EditPage.newPath(of: type)
        }
        let seen = try LivePages.fingerprint(page.resources + page.included)
        return .page(
            PanelPage(
                plural, content: Self.template.render(values), status: problem?.code.status ?? .ok,
                watches: LivePages.path(of: type, list.parameters, seen: seen)))
    }

    /// The bulk actions on the list; nil if the caller may not do any.
    private func bulk(_ list: ListRequest, _ page: ResourceReader.Page, _ total: Int?) throws -> [String: Any]? {
        let actions = BulkWords.actions(of: type, for: view)
        guard !actions.isEmpty, !page.resources.isEmpty else { return nil }
        let ids = try page.resources.map { try PanelResource($0).id }
        let all = PanelNumber.text(total, limit: Self.countLimit)
        let isNarrowed = list.search != nil || list.parameters.all.contains { $0.family == "filter" }
        return [
            "action": list.address(BulkPages.path(of: type), []), "actions": actions,
            "onPage": BulkForm.pageValue(ids), "count": PanelNumber.text(ids.count),
            "all": isNarrowed ? localized("all \(all) that match") : localized("all \(all)"),
        ]
    }

    // MARK: The table

    private func headers(_ list: ListRequest) -> [[String: Any]] {
        list.columns.map { field in
            var header: [String: Any] = ["title": ClassTitle.words(field.name), "isNumber": Self.isNumber(field)]
            guard Self.isSortable(field) else { return header }
            let first = list.parameters.value("sort")?.split(separator: ",").first
            let isUp = first.map { $0 == field.name } ?? false
            let isDown = first.map { $0 == "-\(field.name)" } ?? false
            header["sort"] = list.address(
                path, [("sort", isUp ? "-\(field.name)" : field.name), ("page[number]", nil), ("page[after]", nil)])
            header["order"] = isUp ? "ascending" : isDown ? "descending" : "none"
            if isUp { header["mark"] = "▲" } else if isDown { header["mark"] = "▼" }
            return header
        }
    }

    static func isSortable(_ field: ResourceField) -> Bool {
        guard case .value(_, let type) = field.content else { return false }
        switch type {
        case .data, .link, .embedded, .array, .list, .linkingObjects: return false
        default: return true
        }
    }

    private static func isNumber(_ field: ResourceField) -> Bool {
        guard case .value(_, let type) = field.content else { return false }
        switch type {
        case .int, .float, .double, .decimal128: return true
        default: return false
        }
    }

    private func rows(_ page: ResourceReader.Page, _ list: ListRequest) throws -> [[String: Any]] {
        var titles: [RecordReader.Target: String] = [:]
        let resources = try page.resources.map { try PanelResource($0) }
        let title = ClassTitle.field(of: type, view)
        for resource in resources {
            titles[RecordReader.Target(classIndex: type.classIndex, id: resource.id)] = resource.title(title)
        }
        for resource in page.included {
            let target = resource.plan.type
            let shown = try PanelResource(resource)
            titles[RecordReader.Target(classIndex: target.classIndex, id: shown.id)] =
                shown.title(ClassTitle.field(of: target, view))
        }
        return resources.map { shown in
            let own = ClassPages.path(of: type, id: shown.id)
            let title = titles[RecordReader.Target(classIndex: type.classIndex, id: shown.id)] ?? shown.id
            let cells = list.columns.enumerated().map { place, field -> [String: Any] in
                var cell = cell(shown, field, titles)
                cell["label"] = ClassTitle.words(field.name)
                if place == 0 {
                    cell["own"] = own
                    cell["link"] = nil
                    cell[PanelFieldStyles.valueName] = nil
                    if cell["isEmpty"] as? Bool == true { cell["text"] = title }
                }
                return cell
            }
            return ["cells": cells, "id": shown.id, "path": own, "title": title]
        }
    }

    private func cell(
        _ resource: PanelResource, _ field: ResourceField, _ titles: [RecordReader.Target: String]
    ) -> [String: Any] {
        switch field.content {
        case .toOne(_, let index):
            guard let id = resource.linked(field.name)?.first else { return CellText.empty }
            // A missing title means that the caller may not see the target.
            guard let target = view.types[index],
                let title = titles[RecordReader.Target(classIndex: index, id: id)]
            else {
                return ["text": id, "isHidden": true]
            }
            return ["text": title, "target": ClassPages.path(of: target, id: id)]
        case .toMany:
            let count = resource.linked(field.name)?.count
            return [
                "text": count.map { PanelNumber.text($0) } ?? "\(PanelNumber.text(ResourcePlan.maximumElementCount))+",
                "isNumber": true,
            ]
        case .value, .array, .embedded, .values, .objects:
            let json = resource.attribute(field.name)
            var cell = CellText.value(json, field)
            request.core.fieldStyles.show(json, field, of: type, isList: true, &cell)
            if let text = cell["text"],
                BytesBeginning(json)?.isShown(hasThumbnails: request.core.makesThumbnails) == true
            {
                cell["image"] = [
                    "path": BytesPages.imagePath(of: type, id: resource.id, field, .small, request.core),
                    "side": BytesBeginning.imageSide,
                    "label": "\(ClassTitle.words(field.name)): \(text)",
                ]
            }
            return cell
        }
    }

    // MARK: Forms

    /// The parameters that a form passes on, as hidden fields.
    private func hidden(_ list: ListRequest, without names: Set<String>) -> [[String: Any]] {
        list.parameters.all.filter { !names.contains($0.name) && $0.name != "page[after]" }
            .map { ["name": $0.name, "value": $0.value] }
    }

    private func columnChoices(_ list: ListRequest) -> [[String: Any]] {
        let chosen = Set(list.columns.map(\.name))
        return view.fields(of: type).map {
            ["name": $0.name, "title": ClassTitle.words($0.name), "isChosen": chosen.contains($0.name)]
        }
    }

    private func sizes(_ list: ListRequest) -> [[String: Any]] {
        Self.sizes.map { ["size": $0, "isChosen": $0 == list.query.page.size] }
    }

    // MARK: Pages

    private func paging(_ list: ListRequest, _ page: ResourceReader.Page, _ total: Int?) -> [String: Any] {
        let (size, number) = (list.query.page.size, list.query.page.number ?? 1)
        func address(_ number: Int) -> String {
            list.address(path, [("page[number]", number == 1 ? nil : "\(number)"), ("page[after]", nil)])
        }
        let first = (number - 1) * size
        var values: [String: Any] = [
            "from": PanelNumber.text(first + 1), "to": PanelNumber.text(first + page.resources.count),
        ]
        if number > 1 {
            values["previous"] = address(number - 1)
            values["first"] = address(1)
        }
        if page.next != nil, number * size <= ResourceQuery.maximumOffset { values["next"] = address(number + 1) }
        if let total, total <= Self.countLimit {
            let last = max(1, (total + size - 1) / size)
            values["pages"] = PanelNumber.text(last)
            if last > number { values["last"] = address(last) }
        }
        values["page"] = PanelNumber.text(number)
        return values
    }
}
