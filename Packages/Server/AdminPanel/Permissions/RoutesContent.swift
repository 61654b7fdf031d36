import AdminService
import TomboloHTTP

/// What the template `routes` shows.
struct RoutesContent: Sendable {
    struct Cell: Sendable {
        let text: String
        /// yes, own or no: for the style.
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

    /// - Parameter search: a part of the route; empty for all.
    init(_ overview: RouteOverview, app: String, search: String) {
        self.app = app
        self.search = search
        roles = overview.roles
        links = PermissionLinks(app)
        let wanted = search.lowercased()
        let found = overview.lines.filter { line in
            wanted.isEmpty || "\(line.route.method) \(line.route.path)".lowercased().contains(wanted)
        }
        count = "\(found.count) of \(overview.lines.count) routes"
        lines = found.map { line in
            Line(
                method: line.route.method, path: line.route.path, access: line.route.access,
                cells: line.forecasts.map { forecast in
                    Cell(
                        text: forecast.rawValue,
                        kind: forecast == .allowed ? "yes" : forecast == .refused ? "no" : "own")
                })
        }
    }
}
