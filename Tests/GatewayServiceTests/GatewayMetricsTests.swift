import PostgresClient
import TestSupport
import Testing
import Tombolo
import TomboloHTTP
import TomboloMetrics
import TomboloModel
import TomboloSyncProtocol

@testable import GatewayService

/// What a gateway counts, as Prometheus's own parser reads it.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct GatewayMetricsTests {
    /// Reads the metrics until `isWanted` accepts them.
    private static func eventually(
        _ registry: MetricRegistry, _ isWanted: @Sendable (ParsedMetrics) -> Bool
    ) async throws -> ParsedMetrics {
        let deadline = ContinuousClock.now + .seconds(240)
        while true {
            let metrics = try await ParsedMetrics(await registry.exposition())
            if isWanted(metrics) || ContinuousClock.now > deadline { return metrics }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Whether two devices have received and acknowledged everything, and nothing is in flight.
    private static func isDone(_ metrics: ParsedMetrics) -> Bool {
        let ticks = metrics.value("tombolo_feed_ticks_total")
        return metrics.value("tombolo_sessions", ["state": "live"]) == 2
            && metrics.value("tombolo_uploaded_changesets_total", ["result": "applied"]) == 1
            && metrics.value("tombolo_upload_duration_seconds_count") == 1
            && metrics.value("tombolo_feed_matching_seconds_count") == ticks
            && metrics.value("tombolo_feed_tick_candidates_count") == ticks
            && metrics.value("tombolo_feed_lag_ticks") == 0 && metrics.value("tombolo_feed_lag_seconds") == 0
            && metrics.value("tombolo_feed_tick") == metrics.value("tombolo_database_tick")
            && metrics.value("tombolo_feed_members") == 2 && metrics.value("tombolo_feed_views") == 1
            && metrics.value("tombolo_reads_total", ["kind": "bootstrap", "outcome": "finished"]) == 2
            && metrics.value("tombolo_read_slots", ["state": "used"]) == 0
            && metrics.value("tombolo_spool_bytes", ["place": "memory"]) == 0
            && metrics.value("tombolo_upload_bytes") == 0 && metrics.value("tombolo_uploads_waiting") == 0
    }

    @Test("sessions, reads, uploads, ticks and bytes are counted, and sessions leave with their devices")
    @MainActor
    func countsWhatItDoes() async throws {
        // A device that loses its connection because the machine stalls reconnects, which is counted. Then start over.
        while try await !Self.countsTwoConnections() { try Task.checkCancellation() }
    }

    /// - Returns: false if there were more connections, so that the other figures can't be predicted.
    @MainActor
    private static func countsTwoConnections() async throws -> Bool {
        let registry = MetricRegistry()
        try await GatewayFixture.with(try Schema.of([Note.self]), metrics: registry) { fixture in
            let before = try await ParsedMetrics(await registry.exposition())
            #expect(before.value("tombolo_sessions", ["state": "live"]) == 0)
            #expect(before.value("tombolo_reads_total", ["kind": "bootstrap", "outcome": "begun"]) == 0)
            #expect(before.value("tombolo_read_slots", ["state": "limit"]) == 8)

            let one = try await fixture.device("one", [Note.self])
            let two = try await fixture.device("two", [Note.self])
            for realm in [one, two] {
                let subscriptions = realm.subscriptions
                try await subscriptions.update { subscriptions.append(QuerySubscription<Note>(name: "all")) }
            }
            try one.write { one.add(Note()) }
            try await one.syncSession?.waitForUpload()

            func settled(after tick: Double = 0) async throws -> ParsedMetrics {
                try await Self.eventually(registry) {
                    ($0.value("tombolo_connections_total") ?? 0) > 2
                        || Self.isDone($0) && ($0.value("tombolo_feed_tick") ?? 0) > tick
                }
            }
            var metrics = try await settled()
            // A session that starts to follow after a tick gets the tick too, but isn't counted as told of it.
            var key: Int64 = 0
            while metrics.value("tombolo_connections_total") == 2,
                (metrics.value("tombolo_feed_told_sessions_total") ?? 0) < 2
            {
                key += 1
                try await fixture.pool.query("INSERT INTO note (_id, text) VALUES ($1, '')", [.int64(key)])
                metrics = try await settled(after: metrics.value("tombolo_feed_tick") ?? 0)
            }
            guard metrics.value("tombolo_connections_total") == 2 else { return }
            #expect(metrics.value("tombolo_sessions", ["state": "live"]) == 2)
            #expect(metrics.value("tombolo_uploaded_changesets_total", ["result": "applied"]) == 1)
            #expect(metrics.value("tombolo_upload_group_changesets_count") == 1)
            #expect(metrics.value("tombolo_upload_duration_seconds_count") == 1)
            #expect(try #require(metrics.value("tombolo_feed_told_sessions_total")) >= 2)
            #expect(try #require(metrics.value("tombolo_feed_changes_total")) >= 1)
            #expect(
                metrics.value("tombolo_feed_matching_seconds_count") == metrics.value("tombolo_feed_ticks_total"))
            #expect(
                metrics.value("tombolo_feed_tick_candidates_count") == metrics.value("tombolo_feed_ticks_total"))
            #expect(try #require(metrics.value("tombolo_feed_tick_candidates_sum")) >= 1)
            #expect(metrics.value("tombolo_feed_lag_ticks") == 0 && metrics.value("tombolo_feed_lag_seconds") == 0)
            #expect(metrics.value("tombolo_feed_tick") == metrics.value("tombolo_database_tick"))
            #expect(metrics.value("tombolo_feed_members") == 2 && metrics.value("tombolo_feed_views") == 1)
            #expect(metrics.value("tombolo_reads_total", ["kind": "bootstrap", "outcome": "finished"]) == 2)
            #expect(metrics.value("tombolo_read_duration_seconds_count", ["kind": "bootstrap"]) == 2)
            #expect(metrics.value("tombolo_read_slots", ["state": "used"]) == 0)
            for name in ["received", "sent"] {
                #expect(try #require(metrics.value("tombolo_\(name)_messages_total")) >= 4)
                #expect(try #require(metrics.value("tombolo_\(name)_bytes_total")) > 100)
            }
            #expect(metrics.value("tombolo_spool_bytes", ["place": "memory"]) == 0)
            #expect(metrics.value("tombolo_upload_bytes") == 0 && metrics.value("tombolo_uploads_waiting") == 0)
            #if os(Linux)
                #expect(try #require(metrics.value("tombolo_memory_per_session_bytes")) > 0)
            #endif

            one.syncSession?.suspend()
            let after = try await Self.eventually(registry) { $0.value("tombolo_sessions", ["state": "live"]) == 1 }
            #expect(after.value("tombolo_sessions", ["state": "live"]) == 1)
        }
        return try await ParsedMetrics(await registry.exposition()).value("tombolo_connections_total") == 2
    }

    @Test("failures are counted by code, and connections that are turned away by reason")
    func countsFailures() async throws {
        let registry = MetricRegistry()
        let schema = try Schema.of([Note.self])
        var limits = HTTPLimits.patient
        limits.trustedProxies = .none
        try await GatewayFixture.with(schema, http: limits, metrics: registry, connectionsPerAddress: 1) { fixture in
            try await DeviceSocket.with(schema, port: fixture.port) { socket in
                let first = try await Self.eventually(registry) { $0.value("tombolo_connections_total") == 1 }
                #expect(first.value("tombolo_connections_total") == 1)
                // Turned away while the first one is connected.
                try await DeviceSocket.with(schema, port: fixture.port) { second in
                    let message: ServerMessage? = try await second.first { $0 }
                    #expect(message == nil)
                }
                try await socket.send(.applied(tick: 1))
                #expect(try await socket.failure()?.code == .badMessage)
            }
            let metrics = try await Self.eventually(registry) {
                $0.value("tombolo_connections_refused_total", ["reason": "address"]) == 1
                    && $0.value("tombolo_session_failures_total", ["code": "badMessage"]) == 1
            }
            #expect(metrics.value("tombolo_connections_refused_total", ["reason": "address"]) == 1)
            #expect(metrics.value("tombolo_connections_refused_total", ["reason": "full"]) == 0)
            #expect(metrics.value("tombolo_session_failures_total", ["code": "badMessage"]) == 1)
        }
    }

    @Test("every metric of a gateway is defined, and has the labels in its definition")
    func metricsAreDefined() async throws {
        let registry = MetricRegistry()
        try await GatewayFixture.with(try Schema.of([Note.self]), metrics: registry) { fixture in
            _ = try await fixture.device("one", [Note.self])
            // The database's figures are left out if it doesn't answer in time.
            let wanted = GatewayFigures.definitions.map(\.name).filter { !$0.contains("lease") }
            let metrics = try await Self.eventually(registry) { $0.names.isSuperset(of: wanted) }
            let known = Dictionary(uniqueKeysWithValues: Observability.definitions.map { ($0.name, $0) })
            for family in metrics.families {
                let name = family.type == "counter" ? "\(family.name)_total" : family.name
                let definition = try #require(known[name], "\(name) is not defined")
                #expect(definition.kind.name == family.type && definition.help == family.help)
                for sample in family.samples {
                    #expect(Set(sample.labels.keys).subtracting(["le"]) == Set(definition.labels), "\(name)")
                }
            }
            #expect(metrics.names.isSuperset(of: wanted))
        }
    }
}
