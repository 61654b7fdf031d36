import Logging
import PostgresClient
import TestSupport
import Testing
import Tombolo
import TomboloMetrics
import TomboloModel
import TomboloPostgresStore

@testable import GatewayService

/// What a gateway's metrics say about its standby.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct StandbyMetricsTests {
    @Test("a standby is used, falls behind, fails, and is used again")
    func standby() async throws {
        let primary = try await TestCluster.start()
        let replica = try await primary.startStandby()
        let configuration = try await primary.createDatabase()
        let schema = try Schema.of([Note.self])
        var logger = Logger(label: "standby-metrics")
        logger.logLevel = .critical
        let pool = PostgresPool(configuration: configuration, options: .patient(4), logger: logger)
        try await pool.withConnection { try await PostgresSchema.install(schema, on: $0) }
        let standby = PostgresStandby(
            configuration: replica.copy(of: configuration), connections: 2, logger: logger)
        let store = try await PostgresServerStore.open(schema: schema, pool: pool, standby: standby, logger: logger)
        let sequencer = Sequencer(configuration: configuration, logger: logger)
        _ = try await sequencer.makeTick()
        let registry = MetricRegistry()
        registry.define(GatewayFigures.ofStandby)
        registry.collect { await GatewayFigures.samples(of: standby, beside: store) }

        func metrics() async throws -> ParsedMetrics { try await ParsedMetrics(await registry.exposition()) }
        func reads(_ outcome: String) async throws -> Double? {
            try await metrics().value("tombolo_standby_reads_total", ["outcome": outcome])
        }
        func write() async throws {
            try await pool.query("INSERT INTO note (_id, text) VALUES (floor(random() * 1e15)::bigint, '')")
            _ = try await sequencer.makeTick()
        }
        /// The metrics, with the standby's lag, which is left out if the standby doesn't answer in time.
        func metricsWithLag() async throws -> ParsedMetrics {
            let deadline = ContinuousClock.now + .seconds(180)
            while true {
                let found = try await metrics()
                if found.value("tombolo_standby_lag_ticks") != nil || ContinuousClock.now > deadline { return found }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        /// Bootstraps until one has this outcome: the standby may take a moment, and a machine that stalls may lose one. If the
        /// outcome is "served", keeps going until the most recent one was served, which means the standby is in use.
        func bootstrap(until outcome: String) async throws {
            let before = try await reads(outcome) ?? 0
            let deadline = ContinuousClock.now + .seconds(180)
            while try await reads(outcome) ?? 0 == before || (outcome == "served" && !standby.isInUse) {
                try #require(ContinuousClock.now < deadline, "no bootstrap was '\(outcome)'")
                // Two in a row, because a rest may be over by the time that the metrics are read again.
                for _ in 0..<2 {
                    do {
                        try await store.withBootstrapReader { _ in }
                    } catch let error as PostgresStoreError where error.code == .standbyLost {}
                }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        do {
            for outcome in ["served", "lost", "behind", "unusable", "rested"] {
                #expect(try await reads(outcome) == 0)
            }
            try await bootstrap(until: "served")
            #expect(try await metrics().value("tombolo_standby_used") == 1)
            #expect(try await metricsWithLag().value("tombolo_standby_lag_ticks") == 0)

            let connection = try await PostgresConnection.connect(replica.copy(of: configuration))
            try await connection.execute("SELECT pg_wal_replay_pause()")
            // WAL that is already in flight may still be replayed.
            while try await connection.execute("SELECT pg_get_wal_replay_pause_state()::text")[0][0, 0].string
                != "paused"
            {
                try await Task.sleep(for: .milliseconds(20))
            }
            for _ in 0..<3 { try await write() }
            try await bootstrap(until: "behind")
            let behind = try await metricsWithLag()
            #expect(behind.value("tombolo_standby_used") == 0)
            #expect(try #require(behind.value("tombolo_standby_lag_ticks")) == 3)
            #expect(try #require(behind.value("tombolo_standby_lag_seconds")) > 0)
            try await bootstrap(until: "rested")
            try await connection.execute("SELECT pg_wal_replay_resume()")
            await connection.close()
            try await bootstrap(until: "served")
            #expect(try await metrics().value("tombolo_standby_used") == 1)

            try await replica.kill9()
            try await bootstrap(until: "unusable")
            let gone = try await metrics()
            #expect(gone.value("tombolo_standby_used") == 0)
            #expect(gone.value("tombolo_standby_lag_ticks") == nil && gone.value("tombolo_standby_lag_seconds") == nil)
        } catch {
            await standby.pool.shutdown()
            await pool.shutdown()
            throw error
        }
        await sequencer.resign()
        await standby.pool.shutdown()
        await pool.shutdown()
        await replica.remove()
        await primary.remove()
    }
}
