import HTTPTypes
public import PostgresClient
import TomboloHTTP
public import TomboloRules

extension PanelRoutes {
    /// The rules as they are whenever they're asked: for access decisions.
    public var rules: LiveRules { core.rules }

    /// The server's connections to the database. The rules don't count for statements of one's own: read with
    /// ``PanelRequest/objects(of:_:)`` or ``PanelRequest/rows(of:_:_:)`` what the caller may see.
    public var pool: PostgresPool { core.pool }

    /// Whether a page or an action can be registered. If not, the server doesn't start, and says why.
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
