import HTTPTypes
import Hummingbird
public import Logging
public import ServiceLifecycle
import NIOCore
public import TomboloMetrics

/// Where a server publishes its metrics.
public struct MetricsConfiguration: Hashable, Sendable {
    public static let portVariable = "TOMBOLO_METRICS_PORT"
    public static let hostVariable = "TOMBOLO_METRICS_HOST"

    /// The address to listen on; the loopback address unless an operator chooses another.
    public var host: String
    /// The TCP port to listen on; 0 takes a free one, which the server prints.
    public var port: Int

    public init(host: String = ServerConfiguration.defaultHost, port: Int) {
        self.host = host
        self.port = port
    }
}

/// `GET /metrics` on its own port, for Prometheus. It needs no token: anyone who can reach the address may read it,
/// which is why it listens on the loopback address unless an operator chooses another. It reports counts and sizes, and
/// nothing about users.
/// - Parameter whenRunning: is called with the port as soon as the server accepts connections.
public func buildMetricsApplication(
    _ configuration: MetricsConfiguration, registry: MetricRegistry, logger: Logger,
    whenRunning: @escaping @Sendable (Int) async -> Void = { _ in }
) -> HTTPApplication {
    var limits = HTTPLimits()
    limits.connections = MetricsLimits.connections
    limits.connectionsPerAddress = MetricsLimits.connections
    return HTTPApplication(
        name: "metrics", host: configuration.host, port: configuration.port, limits: limits, logger: logger,
        identify: { _ in throw RequestFailure(.unauthenticated, "Metrics don't use access tokens.") },
        whenRunning: whenRunning
    ) {
        $0.addMetrics(registry)
    }
}

extension ServerConfiguration {
    /// The service that publishes the process's metrics; none unless ``MetricsConfiguration/portVariable`` is set.
    /// - Parameter whenRunning: is called with the address as soon as the server accepts connections.
    public func metricsServices(
        _ registry: MetricRegistry, logger: Logger, whenRunning: @escaping @Sendable (String) async -> Void = { _ in }
    ) -> [any Service] {
        guard let metrics else { return [] }
        return [
            buildMetricsApplication(metrics, registry: registry, logger: logger) { port in
                await whenRunning("\(ListeningAddress.text("http", metrics.host, port))/metrics")
            }
        ]
    }
}

enum MetricsLimits {
    /// How many connections for the metrics of one process are open at a time.
    static let connections = 20
}

extension Routes {
    func addMetrics(_ registry: MetricRegistry) {
        on(
            .get, Self.metricsPath,
            access: .open(
                because:
                    "it listens on the operator's address, loopback by default, and says nothing about users")
        ) { _, _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: await registry.exposition())))
        }
    }
}
