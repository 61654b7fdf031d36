import AdminService
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Lists as files: all rows that a list with the same search, filters and order would show on all its pages, with its
/// columns if somebody has chosen some. They share the limits of `/export`.
struct ExportPages: PanelSection {
    private static let path = "\(AdminPanel.path)/export"
    private static var formats: [(name: String, title: String)] {
        [
            ("csv", localized("CSV, for spreadsheets")), ("json", localized("JSON")),
            ("ndjson", localized("JSON lines")),
        ]
    }
    /// The list parameters that an export keeps.
    private static let kept: Set<String> = ["filter", "sort", "format", "formulas", "titles"]

    /// The links that save a list, one for each format.
    static func links(_ list: ListRequest, _ type: ResourceType) -> [[String: Any]] {
        let others = list.parameters.all.filter { !kept.contains($0.family) && !["q", "columns"].contains($0.name) }
        return formats.map { name, title in
            let changes = others.map { (name: $0.name, value: String?.none) } + [(name: "format", value: name)]
            return ["title": title, "address": list.address("\(path)/\(type.name)", changes)]
        }
    }

    /// The values for the form that saves a list with the titles of link targets; nil for a class without such links.
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
            // An export refuses what the list would refuse.
            let list = try ListRequest(request, type, view)
            let chosen = parameters.value("columns").flatMap { $0.isEmpty ? nil : Set(list.columns.map(\.name)) }
            return .response(
                try await api.export(
                    type, parameters.without(others), narrowing: list.narrowing, fields: chosen, for: view,
                    at: request.context.addressGroup))
        }
    }
}
