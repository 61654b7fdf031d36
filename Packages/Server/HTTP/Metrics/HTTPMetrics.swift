import CoreMetrics
public import TomboloMetrics

/// What a server's requests are counted by.
public struct HTTPMetrics: Sendable {
    public static let duration = MetricDefinition(
        "tombolo_http_request_duration_seconds", .seconds, labels: ["server", "method", "route", "status"],
        "How long requests took from their head to their answer, in seconds. The route 'none' is for addresses of no route."
    )

    public static let definitions = [duration]

    let registry: MetricRegistry
    let server: String

    /// - Parameter route: the route's path, from a slash on. Anything else is an address of no route, whose method may be
    ///   anything as well.
    func count(method: String, route: String?, status: Int, took: Duration) {
        let isKnown = route?.hasPrefix("/") == true
        registry.timer(Self.duration, server, isKnown ? method : "any", isKnown ? route ?? "" : "none", String(status))
            .recordSeconds(took / .seconds(1))
    }
}
