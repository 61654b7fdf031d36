import AdminService
import TomboloHTTP
import TomboloLocalization

/// The values for the template `routes`.
struct RoutesContent: Sendable {
    struct Cell: Sendable {
        let text: String
        /// `yes`, `own` or `no`, for the style sheet.
        let kind: String
    }

    struct Line: Sendable {
        let method: String
        let path: String
        let access: String
        let cells: [Cell]
    }

    let app: String
    let search: String
    let count: String
    let roles: [String]
    let lines: [Line]
    let links: PermissionLinks

    /// - Parameter search: a part of the route; empty for all routes.
    init(_ overview: RouteOverview, app: String, search: String) {
        self.app = app
        self.search = search
        // The first two columns are for callers without a role.
        roles = [localized("anonymous"), localized("any user")] + overview.roles.dropFirst(2).map(localizedName)
        links = PermissionLinks(app)
        let wanted = search.lowercased()
        let found = overview.lines.filter { line in
            wanted.isEmpty || "\(line.route.method) \(line.route.path)".lowercased().contains(wanted)
        }
        count = localized("\(found.count) of \(overview.lines.count) routes")
        lines = found.map { line in
            Line(
                method: line.route.method, path: line.route.path, access: line.route.access,
                cells: line.forecasts.map { forecast in
                    Cell(
                        text: Self.title(forecast),
                        kind: forecast == .allowed ? "yes" : forecast == .refused ? "no" : "own")
                })
        }
    }

    private static func title(_ forecast: RouteForecast) -> String {
        switch forecast {
        case .refused: localized("refused", context: "route")
        case .ownOnly: localized("own only", context: "route")
        case .allowed: localized("allowed", context: "route")
        }
    }
}
