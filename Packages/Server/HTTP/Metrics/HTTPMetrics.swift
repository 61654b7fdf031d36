import CoreMetrics
public import TomboloMetrics

/// The metrics of a server's requests.
public struct HTTPMetrics: Sendable {
    public static let duration = MetricDefinition(
        "tombolo_http_request_duration_seconds", .seconds, labels: ["server", "method", "route", "status"],
        "How long requests took from their head to their answer, in seconds. The route 'none' is for addresses without "
            + "one."
    )

    public static let definitions = [duration]

    let registry: MetricRegistry
    let server: String

    /// - Parameter route: the route's path, beginning with a slash. Anything else means an address that matches no
    ///   route, whose method may be arbitrary as well.
    func count(method: String, route: String?, status: Int, took: Duration) {
        let isKnown = route?.hasPrefix("/") == true
        registry.timer(Self.duration, server, isKnown ? method : "any", isKnown ? route ?? "" : "none", String(status))
            .recordSeconds(took / .seconds(1))
    }
}
