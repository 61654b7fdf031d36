import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import ServiceTestSupport
import TestSupport
import Testing
import TomboloHTTP
import TomboloMetrics
import TomboloRules

@Suite struct MetricsTests {
    private static func application(_ registry: MetricRegistry) -> HTTPApplication {
        HTTPApplication(
            name: "test", host: "127.0.0.1", port: 0, limits: .patient, metrics: registry,
            logger: Logger(label: "test"),
            identify: { _ in .anonymous }
        ) {
            $0.on(.get, "/things/{id}", access: .open(because: "of tests")) { _, _, _ in JSONAnswer(["a": 1]) }
        }
    }

    @Test("requests are counted by route and status, and clients can't create new series")
    func requests() async throws {
        let registry = MetricRegistry()
        try await Self.application(registry).test(.router) { client in
            for id in 1...3 { _ = try await client.execute(uri: "/things/\(id)", method: .get) }
            for number in 0..<40 {
                let method = try #require(HTTPRequest.Method("MADEUP\(number)"))
                let response = try await client.execute(uri: "/made/up/\(number)", method: method)
                #expect(response.status == .notFound)
            }
            _ = try await client.execute(uri: "/things/1", method: .delete)
        }
        let metrics = try await ParsedMetrics(await registry.exposition())
        func count(_ method: String, _ route: String, _ status: String) -> Double? {
            metrics.value(
                "tombolo_http_request_duration_seconds_count",
                ["server": "test", "method": method, "route": route, "status": status])
        }
        #expect(count("GET", "/things/{id}", "200") == 3)
        #expect(count("any", "none", "404") == 40)
        #expect(count("any", "none", "405") == 1)
        let family = metrics.families.first { $0.name == HTTPMetrics.duration.name }
        #expect(Set((family?.samples ?? []).map { $0.labels["route"] }) == ["/things/{id}", "none"])
    }

    @Test("the metrics are served by a single open route, in Prometheus's format")
    func endpoint() async throws {
        let registry = MetricRegistry()
        registry.collect(ProcessMetrics.samples)
        let app = buildMetricsApplication(
            MetricsConfiguration(port: 0), registry: registry, logger: Logger(label: "test"))
        #expect(app.routes.map { "\($0.method) \($0.path)" } == ["GET /metrics"])
        #expect(app.routes.map(\.isOpen) == [true])
        try await withPatience {
            try await app.test(.router) { client in
                let response = try await client.execute(uri: "/metrics", method: .get)
                #expect(response.status == .ok)
                #expect(response.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
                let metrics = try await ParsedMetrics(String(buffer: response.body))
                #expect(metrics.value("process_max_fds") != nil)
            }
        }
    }
}
