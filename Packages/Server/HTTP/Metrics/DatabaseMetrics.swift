public import PostgresClient
public import TomboloMetrics

/// Metrics of a server's PostgreSQL connections.
public enum DatabaseMetrics {
    public static let connections = MetricDefinition(
        "tombolo_database_connections", .gauge, labels: ["state"],
        "Connections to PostgreSQL: 'used' are in use or being opened, 'idle' are open but unused.")
    public static let limit = MetricDefinition(
        "tombolo_database_connections_limit", .gauge, "The most connections to PostgreSQL that the process opens.")
    public static let waiting = MetricDefinition(
        "tombolo_database_waiting", .gauge, "Requests that are waiting for a connection to PostgreSQL.")
    public static let acquires = MetricDefinition(
        "tombolo_database_acquires_total", .counter, "Requests for a connection to PostgreSQL that got one.")
    public static let waitSeconds = MetricDefinition(
        "tombolo_database_wait_seconds_total", .counter,
        "How long these requests waited in total, in seconds, not counting the time to open a connection.")

    public static let definitions = [connections, limit, waiting, acquires, waitSeconds]

    static func samples(_ pool: PostgresPool) -> [MetricSample] {
        let use = pool.statistics
        let waits = pool.waits
        return [
            MetricSample(connections, use.idle, "idle"), MetricSample(connections, use.inUse, "used"),
            MetricSample(limit, pool.options.maximumConnections), MetricSample(waiting, use.waiting),
            MetricSample(acquires, waits.count), MetricSample(waitSeconds, waits.time / .seconds(1)),
        ]
    }
}

extension MetricRegistry {
    /// The metrics of every server: of its process, and of its PostgreSQL connections.
    public static func ofServer(_ pool: PostgresPool) -> MetricRegistry {
        let registry = MetricRegistry()
        registry.define(HTTPMetrics.definitions)
        registry.collect(ProcessMetrics.samples)
        registry.collect { DatabaseMetrics.samples(pool) }
        return registry
    }
}
