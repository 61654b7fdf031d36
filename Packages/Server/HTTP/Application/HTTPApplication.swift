import HTTPTypes
public import Hummingbird
public import HummingbirdCore
public import Logging
public import NIOCore
public import TomboloAuthentication
public import TomboloMetrics
public import TomboloRules

/// One HTTP server: routes with their access decisions, behind the common edge (errors, limits, log). It is a
/// `Service`: run it in a `ServiceGroup`, after the services that it needs.
public struct HTTPApplication: ApplicationProtocol {
    /// The name in log lines: `admin`, `tickets`.
    public let name: String
    /// How many connections the operating system queues until they are accepted. Linux queues at most
    /// `net.core.somaxconn`, 4,096 by default. Beyond that it drops attempts, and their clients try again after 1, 3, 7
    /// and 15 seconds.
    static let backlog = 4_096
    /// Every route of the router.
    public let routes: [RouteDescription]
    public let responder: RouterResponder<EdgeContext>
    public let configuration: ApplicationConfiguration
    public let logger: Logger
    public let limits: HTTPLimits
    /// The memory of the server's answers.
    package let answers: AnswerBudget
    /// The certificate for HTTPS; nil for HTTP. It has to run as a service as well, so that it can be replaced.
    public var certificate: TLSCertificate?
    private let host: String
    private let port: Int
    private let whenRunning: @Sendable (Int) async -> Void
    private let problems: [String]

    /// Like the other initialiser, for access tokens of an ``Authenticator``.
    public init(
        name: String, host: String, port: Int, limits: HTTPLimits = HTTPLimits(), metrics: MetricRegistry? = nil,
        requests: RequestLog? = nil, logger: Logger, authenticator: Authenticator, showsDecisions: Bool = false,
        whenRunning: @escaping @Sendable (Int) async -> Void = { _ in },
        register: (Routes) -> Void
    ) {
        self.init(
            name: name, host: host, port: port, limits: limits, metrics: metrics, requests: requests,
            logger: logger, identify: { try await authenticator.verify($0) }, showsDecisions: showsDecisions,
            whenRunning: whenRunning,
            register: register)
    }

    /// - Parameters:
    ///   - port: 0 takes a free port; the log line about listening has the actual one.
    ///   - metrics: counts requests; nil to count none.
    ///   - requests: keeps requests for administrators; nil to keep none.
    ///   - showsDecisions: whether a header says why a request was permitted or refused: for development only.
    ///   - identify: returns the subject of an access token, or throws a ``RequestFailure`` with status 401.
    ///   - whenRunning: is called with the port as soon as the server accepts connections.
    ///   - register: adds the service's routes.
    public init(
        name: String, host: String, port: Int, limits: HTTPLimits = HTTPLimits(), metrics: MetricRegistry? = nil,
        requests: RequestLog? = nil, logger: Logger,
        identify: @escaping @Sendable (_ token: String) async throws -> Subject,
        showsDecisions: Bool = false, whenRunning: @escaping @Sendable (Int) async -> Void = { _ in },
        register: (Routes) -> Void
    ) {
        self.name = name
        self.limits = limits
        self.logger = logger
        self.host = host
        self.port = port
        self.whenRunning = whenRunning
        configuration = ApplicationConfiguration(
            address: .hostname(host, port: port), backlog: Self.backlog,
            availableConnectionsDelegate: MaximumAvailableConnections(
                min(limits.connections, OpenFileLimit.connections), logger: logger))
        let table = RouteTable()
        answers = AnswerBudget(limits)
        let router = Router(context: EdgeContext.self, options: .autoGenerateHeadEndpoints)
        router.add(
            middleware: EdgeMiddleware(
                limits: limits, routes: table, answers: answers,
                metrics: metrics.map { HTTPMetrics(registry: $0, server: name) }, requests: requests))
        register(
            Routes(
                router: router, table: table, limits: limits, identity: RouteIdentity(bearer: identify),
                showsDecisions: showsDecisions))
        routes = router.routes.map { table.description(of: $0.method.rawValue, at: $0.path.description) }
        problems = table.problems
        responder = router.buildResponder()
    }

    public var server: HTTPServerBuilder { guardedServer(staysOnEventLoop: true) { $0 } }

    /// A server whose connections keep within this application's limits.
    /// - Parameters:
    ///   - staysOnEventLoop: whether the tasks that serve a connection run on its event loop. Use it only if none of
    ///     them computes for long at a time.
    ///   - build: makes what serves a connection, from what serves HTTP on it.
    package func guardedServer<Base: ServerChildChannel>(
        staysOnEventLoop: Bool = false, _ build: @escaping @Sendable (HTTPServerChannel) -> Base
    ) -> HTTPServerBuilder {
        let (limits, certificate) = (limits, certificate)
        let http = HTTPServerChannel(RequestResponder(router: responder, logger: logger), limits: limits)
        // Hummingbird's own responder is left out: it writes to Hummingbird's connections only.
        return HTTPServerBuilder { _ in
            GuardedServerChannel(
                base: build(http), limits: limits, certificate: certificate, staysOnEventLoop: staysOnEventLoop)
        }
    }

    /// Serves until its service group shuts down.
    /// - Throws: ``ServerStartError`` if it can't listen, or if a route's access uses a parameter that the route
    ///   doesn't have.
    public func run() async throws {
        guard problems.isEmpty else { throw ServerStartError(problems, name: name) }
        do {
            try await Application(
                responder: responder, server: server, configuration: configuration,
                onServerRunning: { await onServerRunning($0) }, logger: logger
            ).run()
        } catch {
            throw ServerStartError(error, name: name, host: host, port: port) ?? error
        }
    }

    public func onServerRunning(_ channel: any Channel) async {
        let port = channel.localAddress?.port ?? 0
        let scheme = certificate == nil ? "http" : "https"
        logger.info("\(name) listens on \(ListeningAddress.text(scheme, host, port))")
        await whenRunning(port)
    }
}
