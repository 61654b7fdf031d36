import Hummingbird
package import TomboloHTTP
import TomboloModel
package import TomboloRules
package import TomboloServerModel

/// Which role may use which route of this server under the current rules. Derived from the routes themselves.
package struct RouteOverview: Sendable {
    package struct Line: Sendable {
        package let route: RouteDescription
        /// In the order of ``RouteOverview/roles``.
        package let forecasts: [RouteForecast]
    }

    /// The names for callers without a role, then all roles of the app.
    package let roles: [String]
    package let lines: [Line]

    static let anonymous = "anonymous"
    static let user = "any user"

    package init(
        _ model: ServerModel, _ matrix: PermissionMatrix, app: String,
        _ forecasts: (Subject) -> [(route: RouteDescription, forecast: RouteForecast)]
    ) {
        let named = matrix.everywhereRoles + matrix.roles
        let user = Subject(user: ObjectId())
        let columns =
            [forecasts(.anonymous), forecasts(user)]
            + named.map { forecasts(model.example(of: $0, inMatrixOf: app)) }
        roles = [Self.anonymous, Self.user] + named
        lines = (columns.first ?? []).indices.map { index in
            Line(route: columns[0][index].route, forecasts: columns.map { $0[index].forecast })
        }.sorted { ($0.route.path, $0.route.method) < ($1.route.path, $1.route.method) }
    }

    // MARK: Answers

    var json: JSON {
        [
            "roles": .array(roles.map { .string($0) }),
            "routes": .array(
                lines.map { line in
                    let verdicts = zip(roles, line.forecasts).map { ($0, JSON.string($1.rawValue)) }
                    return [
                        "method": .string(line.route.method), "path": .string(line.route.path),
                        "access": .string(line.route.access),
                        "roles": .object(Dictionary(verdicts, uniquingKeysWith: { first, _ in first })),
                    ]
                }),
        ]
    }

    /// A table with row and column headings that states its verdicts in words.
    var page: HTMLPage {
        let heads = roles.map { "<th scope=\"col\">\(HTMLPage.escape($0))</th>" }.joined()
        let rows = lines.map { line in
            let cells = line.forecasts.map { forecast in
                "<td class=\"\(forecast == .refused ? "no" : forecast == .allowed ? "yes" : "own")\">\(forecast.rawValue)</td>"
            }
            let name = HTMLPage.escape("\(line.route.method) \(line.route.path)")
            return "<tr><th scope=\"row\">\(name)<br><small>\(HTMLPage.escape(line.route.access))</small></th>"
                + cells.joined() + "</tr>"
        }
        return HTMLPage(
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Routes by role</title>
            <style>
            body { font: 1rem/1.4 system-ui, sans-serif; margin: 1rem; color: #1a1a1a; background: #fff }
            div { overflow-x: auto }
            table { border-collapse: collapse }
            caption { text-align: start; padding-block: .5rem }
            th, td { border: 1px solid #8a8a8a; padding: .3rem .5rem; text-align: start; vertical-align: top }
            thead th { position: sticky; top: 0; background: #eee }
            .yes { background: #dff3df } .own { background: #fff3cf } .no { color: #595959 }
            </style>
            </head>
            <body>
            <main>
            <h1>Routes by role</h1>
            <div tabindex="0" role="region" aria-labelledby="about">
            <table>
            <caption id="about">What a caller with one role and no other gets from this server, as the rules are now. Own
            only: for some objects, such as those of their events, their own, or published ones.</caption>
            <thead><tr><th scope="col">Route</th>\(heads)</tr></thead>
            <tbody>
            \(rows.joined(separator: "\n"))
            </tbody>
            </table>
            </div>
            </main>
            </body>
            </html>
            """)
    }
}
