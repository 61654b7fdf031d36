import Logging
import PostgresClient
import Testing
import TomboloHTTP

@Suite struct ServerConfigurationTests {
    private static let good = [
        "TOMBOLO_DATABASE_URL": "postgresql://me:pass@db:5433/tombolo",
        "TOMBOLO_JWT_SECRET": String(repeating: "k", count: 32),
    ]

    private static func read(
        _ changes: [String: String?] = [:], port: Int? = nil
    ) throws(ConfigurationError) -> ServerConfiguration {
        var environment = good
        for (name, value) in changes { environment[name] = value }
        return try ServerConfiguration(
            environment: environment, portVariable: "TOMBOLO_TEST_PORT", defaultPort: 8_000, port: port)
    }

    @Test("The defaults serve on the loopback address only")
    func defaults() throws {
        let configuration = try Self.read()
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.port == 8_000)
        #expect(configuration.database.database == "tombolo")
        #expect(configuration.logLevel == .info)
    }

    @Test("Metrics are served only if requested, and on the loopback address unless configured otherwise")
    func metrics() throws {
        #expect(try Self.read().metrics == nil)
        #expect(try Self.read(["TOMBOLO_METRICS_HOST": "0.0.0.0"]).metrics == nil)
        #expect(try Self.read(["TOMBOLO_METRICS_PORT": "9464"]).metrics == MetricsConfiguration(port: 9_464))
        let open = try Self.read(["TOMBOLO_METRICS_PORT": "0", "TOMBOLO_METRICS_HOST": "10.0.0.7"]).metrics
        #expect(open == MetricsConfiguration(host: "10.0.0.7", port: 0))
        #expect(MetricsConfiguration(port: 1).host == "127.0.0.1")
    }

    @Test("A port on the command line overrides the environment's")
    func port() throws {
        #expect(try Self.read(["TOMBOLO_TEST_PORT": "9000"]).port == 9_000)
        #expect(try Self.read(["TOMBOLO_TEST_PORT": "9000"], port: 0).port == 0)
    }

    @Test(
        "The address that a server prints has brackets around an IPv6 host",
        arguments: [
            ("127.0.0.1", "http://127.0.0.1:9000"), ("localhost", "http://localhost:9000"),
            ("::1", "http://[::1]:9000"), ("::", "http://[::]:9000"),
        ])
    func address(host: String, address: String) throws {
        #expect(try Self.read(["TOMBOLO_HOST": host]).address(port: 9_000) == address)
    }

    @Test(
        "A wrong or missing value names its variable",
        arguments: [
            ("TOMBOLO_TEST_PORT", "70000"), ("TOMBOLO_TEST_PORT", "-1"), ("TOMBOLO_TEST_PORT", "http"),
            ("TOMBOLO_DATABASE_URL", nil), ("TOMBOLO_DATABASE_URL", ""), ("TOMBOLO_DATABASE_URL", "nonsense"),
            ("TOMBOLO_JWT_SECRET", nil), ("TOMBOLO_JWT_SECRET", "short"), ("TOMBOLO_LOG_LEVEL", "loud"),
            ("TOMBOLO_TRUSTED_PROXIES", "10.0.0.1, proxy"), ("TOMBOLO_CONNECTIONS_PER_ADDRESS", "0"),
            ("TOMBOLO_CONNECTIONS_PER_ADDRESS", "many"), ("TOMBOLO_METRICS_PORT", "65536"),
            ("TOMBOLO_METRICS_PORT", "on"), ("TOMBOLO_PROXY_PROTOCOL", "v2"), ("TOMBOLO_PROXY_PROTOCOL", "on"),
        ])
    func wrongValues(name: String, value: String?) {
        let error = #expect(throws: ConfigurationError.self) { try Self.read([name: value]) }
        #expect(error?.problems.count == 1)
        #expect(error?.description.contains(name) == true)
    }

    @Test("Trusted proxies and connections per address are read from the environment")
    func limitsComeFromTheEnvironment() throws {
        let plain = try Self.read().limits
        #expect(plain.trustedProxies == .none && plain.connectionsPerAddress == nil)
        let limits = try Self.read([
            "TOMBOLO_TRUSTED_PROXIES": "10.0.0.0/8", "TOMBOLO_CONNECTIONS_PER_ADDRESS": "7",
        ]).limits
        #expect(limits.connectionsPerAddress == 7)
        let address = limits.trustedProxies.clientAddress(peer: "10.0.0.1", forwarded: [], forwardedFor: ["192.0.2.1"])
        #expect(address == "192.0.2.1")
    }

    @Test("The PROXY protocol is off unless it is switched on for named proxies")
    func proxyProtocol() throws {
        func expects(_ value: String?) throws -> Bool {
            try Self.read(["TOMBOLO_TRUSTED_PROXIES": "10.0.0.0/8", "TOMBOLO_PROXY_PROTOCOL": value]).limits
                .expectsProxyHeader
        }
        #expect(try !expects(nil) && !expects("off") && expects("on"))
    }

    @Test("All problems are reported at once, and none quotes a secret")
    func problems() {
        let error = #expect(throws: ConfigurationError.self) {
            try Self.read([
                "TOMBOLO_DATABASE_URL": "postgresql://me:hunter2@[broken/", "TOMBOLO_JWT_SECRET": "hunter2",
                "TOMBOLO_TEST_PORT": "x",
            ])
        }
        #expect(error?.problems.count == 3)
        #expect(error?.description.contains("hunter2") == false)
    }
}
