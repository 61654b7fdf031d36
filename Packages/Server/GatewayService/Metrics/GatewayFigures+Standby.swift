package import TomboloMetrics
internal import TomboloChangesets
internal import TomboloHTTP
package import TomboloPostgresStore
package import TomboloSyncSession

extension GatewayFigures {
    package static let standbyUsed = MetricDefinition(
        "tombolo_standby_used", .gauge,
        "1 while bootstraps are read from the standby; 0 after it fell behind or failed, until it serves one again.")
    package static let standbyReads = MetricDefinition(
        "tombolo_standby_reads_total", .counter, labels: ["outcome"],
        "Bootstraps: 'served' by the standby; 'lost' midway and started again; read from the primary because the "
            + "standby was 'behind', 'unusable', or 'rested' after either.")
    package static let standbyLagTicks = MetricDefinition(
        "tombolo_standby_lag_ticks", .gauge,
        "How many ticks the standby is behind the primary. Omitted while either doesn't answer.")
    package static let standbyLagSeconds = MetricDefinition(
        "tombolo_standby_lag_seconds", .gauge,
        "The time between the newest tick on the standby and the newest on the primary, in seconds.")

    package static let ofStandby = [standbyUsed, standbyReads, standbyLagTicks, standbyLagSeconds]

    /// The figures of a standby that bootstraps are read from.
    /// - Parameter store: the primary's store.
    package static func samples(
        of standby: PostgresStandby, beside store: any ServerStore
    ) async -> [MetricSample] {
        let statistics = standby.statistics
        var samples = [
            MetricSample(standbyUsed, standby.isInUse ? 1 : 0),
            MetricSample(standbyReads, statistics.served, "served"),
            MetricSample(standbyReads, statistics.lost, "lost"),
            MetricSample(standbyReads, statistics.behind, "behind"),
            MetricSample(standbyReads, statistics.unusable, "unusable"),
            MetricSample(standbyReads, statistics.rested, "rested"),
        ]
        // Ask the standby first, so that it never appears to be ahead.
        if let tick = await standby.newestTick(),
            let latest = try? await withTimeout(databaseTimeout, { try await store.latestTick() })
        {
            let microseconds = latest.time.microseconds - tick.time.microseconds
            samples += [
                MetricSample(standbyLagTicks, Double(max(0, latest.number - tick.number))),
                MetricSample(standbyLagSeconds, tick.number == 0 ? 0 : Double(max(0, microseconds)) / 1_000_000),
            ]
        }
        return samples
    }
}
