import AdminService
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Lists as files: all rows that a list with the same search, filters and order would show on all of its pages, with its
/// columns if somebody has chosen some. The limits are those of `/export`, together with it.
struct ExportPages: PanelSection {
    private static let path = "\(AdminPanel.path)/export"
    private static var formats: [(name: String, title: String)] {
        [
            ("csv", localized("CSV, for spreadsheets")), ("json", localized("JSON")),
            ("ndjson", localized("JSON lines")),
        ]
    }
    /// What an export takes of a list's parameters.
    private static let kept: Set<String> = ["filter", "sort", "format", "formulas", "titles"]

    /// Where a list is saved from.
    static func links(_ list: ListRequest, _ type: ResourceType) -> [[String: Any]] {
        let others = list.parameters.all.filter { !kept.contains($0.family) && !["q", "columns"].contains($0.name) }
        return formats.map { name, title in
            let changes = others.map { (name: $0.name, value: String?.none) } + [(name: "format", value: name)]
            return ["title": title, "address": list.address("\(path)/\(type.name)", changes)]
        }
    }

    /// What the form is made of that saves a list with the titles of what its links lead to; nil for a class without such
    /// links.
    static func form(_ list: ListRequest, _ type: ResourceType, _ view: CallerView) -> [String: Any]? {
        let hasLinks = view.fields(of: type).contains { field in
            guard let target = field.target.flatMap({ view.types[$0] }) else { return false }
            return view.titleField(of: target) != nil && view.refusal(.read, target) == nil
        }
        guard hasLinks else { return nil }
        let others = list.parameters.all.filter { kept.contains($0.family) || ["q", "columns"].contains($0.name) }
        return [
            "action": "\(path)/\(type.name)", "formats": formats.map { ["value": $0.name, "title": $0.title] },
            "hidden": others.map { ["name": $0.name, "value": $0.value] },
        ]
    }

    func add(to panel: PanelRoutes) {
        let api = panel.parts.api
        let reading = ClassPages.access(localized("read", context: "may …"), panel.core) { _ in [.read] }
        panel.page("\(Self.path)/{collection}", access: reading) { request, grant in
            let (view, type) = try ClassPages.found(request, grant)
            let parameters = try RequestParameters(request.request)
            let others = Set(parameters.all.map(\.family)).subtracting(Self.kept)
            // What the list would refuse is refused here.
            let list = try ListRequest(request, type, view)
            let chosen = parameters.value("columns").flatMap { $0.isEmpty ? nil : Set(list.columns.map(\.name)) }
            return .response(
                try await api.export(
                    type, parameters.without(others), narrowing: list.narrowing, fields: chosen, for: view,
                    at: request.context.addressGroup))
        }
    }
}
