public import Logging
public import PostgresClient
public import TomboloAuthentication
public import TomboloHTTP
public import TomboloMetrics
public import TomboloRules

/// The ticket API's default port, and its environment variables.
public enum TicketAPI {
    public static let portVariable = "TOMBOLO_TICKETS_PORT"
    public static let defaultPort = 8082

    /// All variables that the ticket API reads from its environment, by topic.
    public static let variables: [ServerVariable] = [
        .database(role: "tombolo_tickets"), .host, .port(portVariable, default: defaultPort), .proxies,
        .proxyProtocol, .connections(default: HTTPLimits.defaultConnectionsPerAddress), .certificate, .certificateKey,
        .tokenSecret, .logLevel, .metricsPort, .metricsHost,
    ]
}

/// The ticket API as a service. The pool must run for as long as the service does.
/// - Parameters:
///   - port: 0 takes a free one.
///   - metrics: where requests are counted; nil to count nothing.
///   - whenRunning: gets the port as soon as the server accepts connections.
/// - Throws: if the page's template is broken, which is a bug in the program.
public func buildTicketApplication(
    host: String, port: Int, pool: PostgresPool, rules: LiveRules, authenticator: Authenticator,
    limits: HTTPLimits = HTTPLimits(), metrics: MetricRegistry? = nil, logger: Logger = Logger(label: "tickets"),
    whenRunning: @escaping @Sendable (Int) async -> Void = { _ in }
) throws -> HTTPApplication {
    let routes = try TicketRoutes(rules: rules, pool: pool)
    return HTTPApplication(
        name: "tickets", host: host, port: port, limits: limits, metrics: metrics, logger: logger,
        authenticator: authenticator, whenRunning: whenRunning
    ) {
        $0.addHealth(pool)
        $0.addLogin(authenticator)
        routes.add(to: $0)
    }
}
