public import TomboloHTTP

extension GatewayServer {
    /// All variables that the gateway reads from its environment, by topic, except those for tracing.
    public static let variables: [ServerVariable] = [
        .database(role: "tombolo_gateway"),
        ServerVariable(
            ServerConfiguration.standbyVariable, .database, .database,
            does:
                "a hot standby of the database. Devices' first batches are read from it while it's up to date: see "
                + "docs/operations.md",
            without: "they are read from the database"),
        .host, .port(portVariable, default: defaultPort), .proxies, .proxyProtocol,
        .connections(default: Gateway.maximumConnectionCountOfAddress), .certificate, .certificateKey,
        ServerVariable(
            ServerConfiguration.drainVariable, .network,
            does:
                "how many seconds to keep running after SIGTERM while GET /ready answers 503, so that a load balancer "
                + "notices",
            without: "0"),
        ServerVariable(
            TicksAddress.variable, .network, .link,
            does:
                "redis://user:password@host:6379, or rediss://… with TLS, the same on every gateway: they learn of "
                + "changes there instead of through LISTEN, which PgBouncer doesn't support in transaction mode",
            without: "LISTEN"),
        ServerVariable(
            TicksAddress.authoritiesVariable, .network,
            does: "a PEM file with the only authorities that may have signed that server's certificate",
            without: "the system's"),
        .tokenSecret, .breachedPasswords, .mail(without: "none are sent"), .mailSecret,
        .mailLanguages, .logLevel, .metricsPort, .metricsHost,
    ]
}
