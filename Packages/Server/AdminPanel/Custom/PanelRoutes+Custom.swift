import HTTPTypes
public import PostgresClient
import TomboloHTTP
public import TomboloRules

extension PanelRoutes {
    /// The rules for access decisions, always the current version.
    public var rules: LiveRules { core.rules }

    /// The server's connections to the database. The rules don't apply to custom statements: use
    /// ``PanelRequest/objects(of:_:)`` or ``PanelRequest/rows(of:_:_:)`` to read what the caller may see.
    public var pool: PostgresPool { core.pool }

    /// Whether a page or an action can be registered. If not, the server reports why and doesn't start.
    func admits<Grant: Sendable>(
        _ method: HTTPRequest.Method, _ path: String, _ access: RouteAccess<Grant>
    ) -> Bool {
        guard let custom else { return true }
        let problem =
            access.ignoresCaller
            ? "'\(path)' is open to everybody, but pages of the panel are for people who are logged in. "
                + "RouteAccess.own(\"panel\") lets all of them in."
            : custom.problem(method, path, beside: routes.registered)
        guard let problem else { return true }
        routes.refuse(problem)
        return false
    }
}
