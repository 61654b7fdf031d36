internal import NIOCore
internal import PostgresClient
package import TomboloMetrics
internal import TomboloChangesets
internal import TomboloHTTP
internal import TomboloPostgresStore
internal import TomboloSyncSession

/// A gateway's current figures, computed when somebody asks for its metrics.
package struct GatewayFigures: Sendable {
    /// How long to wait for the database's newest tick. If it takes longer, the lag is left out.
    static let databaseTimeout = Duration.seconds(2)

    package static let sessions = MetricDefinition(
        "tombolo_sessions", .gauge, labels: ["state"],
        "Connected devices by session state: waiting (for hello), authenticating, opening, verifying, reading (a "
            + "batch), live, closed.")
    package static let memoryPerSession = MetricDefinition(
        "tombolo_memory_per_session_bytes", .gauge,
        "Resident memory of the process divided by its sessions, in bytes. Omitted without sessions.")
    package static let generations = MetricDefinition(
        "tombolo_generations", .gauge, "Versions of the model that are in use by sessions.")
    package static let feedTick = MetricDefinition(
        "tombolo_feed_tick", .gauge, "The newest tick known to the feed of the newest model.")
    package static let databaseTick = MetricDefinition(
        "tombolo_database_tick", .gauge, "The newest tick in the database.")
    package static let lagTicks = MetricDefinition(
        "tombolo_feed_lag_ticks", .gauge, "How many ticks the feed is behind the database.")
    package static let lagSeconds = MetricDefinition(
        "tombolo_feed_lag_seconds", .gauge,
        "The time between the feed's newest tick and the newest in the database, in seconds.")
    package static let sessionLagTicks = MetricDefinition(
        "tombolo_session_lag_ticks", .gauge,
        "How many ticks the slowest live session is behind the feed.")
    package static let keptTicks = MetricDefinition(
        "tombolo_feed_kept_ticks", .gauge, "Ticks kept in memory for sessions that fall behind.")
    package static let keptChanges = MetricDefinition(
        "tombolo_feed_kept_changes", .gauge, "Changes and refusals in these ticks.")
    package static let keptBytes = MetricDefinition(
        "tombolo_feed_kept_bytes", .gauge, "The approximate size of these ticks, in bytes.")
    package static let views = MetricDefinition(
        "tombolo_feed_views", .gauge,
        "Distinct views of the sessions that follow the feed. Sessions with the same view are matched together.")
    package static let members = MetricDefinition(
        "tombolo_feed_members", .gauge, "Sessions that follow the feed.")
    package static let readSlots = MetricDefinition(
        "tombolo_read_slots", .gauge, labels: ["state"],
        "Batch reads: 'used' have a slot, 'waiting' are waiting for one, 'limit' is the number of slots.")
    package static let spoolBytes = MetricDefinition(
        "tombolo_spool_bytes", .gauge, labels: ["place"],
        "Batches in flight to devices, in bytes, in 'memory' and on 'disk'.")
    package static let waitingUploads = MetricDefinition(
        "tombolo_uploads_waiting", .gauge, "Uploads waiting for a transaction.")
    package static let uploadTransactions = MetricDefinition(
        "tombolo_upload_transactions", .gauge, "Upload transactions in progress.")
    package static let uploadBytes = MetricDefinition(
        "tombolo_upload_bytes", .gauge, "Uploads that are waiting or being applied, in bytes.")
    package static let uploadDevices = MetricDefinition(
        "tombolo_upload_devices_waiting", .gauge,
        "Devices whose next upload is waiting for room in the memory that uploads may use.")
    package static let isSequencer = MetricDefinition(
        "tombolo_sequencer_elected", .gauge, "1 for the process that creates the ticks, 0 for others.")
    package static let leaseAge = MetricDefinition(
        "tombolo_sequencer_lease_age_seconds", .gauge,
        "How long ago the sequencer's lease was renewed, in seconds. Omitted if the process isn't the sequencer.")
    package static let madeTicks = MetricDefinition(
        "tombolo_sequencer_ticks_total", .counter, "Ticks created by this process.")

    package static let definitions = [
        sessions, memoryPerSession, generations, feedTick, databaseTick, lagTicks, lagSeconds, sessionLagTicks,
        keptTicks,
        keptChanges, keptBytes, views, members, readSlots, spoolBytes, waitingUploads, uploadTransactions, uploadBytes,
        uploadDevices,
    ]

    let services: SessionRunner.Services

    func samples() async -> [MetricSample] {
        var samples: [MetricSample] = []
        let sessions = await services.clocks.summary()
        for state in ServerSession.State.allCases {
            samples.append(MetricSample(Self.sessions, sessions.count[state] ?? 0, state.rawValue))
        }
        let count = sessions.count.values.reduce(0, +)
        if count > 0, let resident = ProcessMetrics.residentByteCount {
            samples.append(MetricSample(Self.memoryPerSession, resident / count))
        }
        samples += [
            MetricSample(Self.readSlots, await services.reads.usedCount, "used"),
            MetricSample(Self.readSlots, await services.reads.waitingCount, "waiting"),
            MetricSample(Self.readSlots, services.limits.concurrentReads, "limit"),
            MetricSample(Self.spoolBytes, services.spools.held.memory, "memory"),
            MetricSample(Self.spoolBytes, services.spools.held.disk, "disk"),
            MetricSample(Self.uploadBytes, await services.uploadBudget.byteCount),
            MetricSample(Self.uploadDevices, await services.uploadBudget.waitingCount),
        ]
        let generations = await services.generations.all
        samples.append(MetricSample(Self.generations, generations.count))
        var waiting = 0
        var transactions = 0
        for generation in generations {
            waiting += await generation.uploads.waitingCount
            transactions += await generation.uploads.transactionCount
        }
        samples.append(MetricSample(Self.waitingUploads, waiting))
        samples.append(MetricSample(Self.uploadTransactions, transactions))
        if let newest = generations.last { samples += await feedSamples(newest, oldestLive: sessions.oldestLive) }
        return samples
    }

    private func feedSamples(_ generation: Generation, oldestLive: Int64?) async -> [MetricSample] {
        let feed = await generation.feed.figures
        var samples = [
            MetricSample(Self.feedTick, Double(feed.newest.number)), MetricSample(Self.keptTicks, feed.tickCount),
            MetricSample(Self.keptChanges, feed.itemCount), MetricSample(Self.keptBytes, feed.byteCount),
            MetricSample(Self.views, feed.viewCount), MetricSample(Self.members, feed.memberCount),
            MetricSample(Self.sessionLagTicks, Double(max(0, feed.newest.number - (oldestLive ?? feed.newest.number)))),
        ]
        // Read after the feed's tick, so that the feed never appears to be ahead.
        let store = generation.store
        if let latest = try? await withTimeout(Self.databaseTimeout, { try await store.latestTick() }) {
            let microseconds = latest.time.microseconds - feed.newest.time.microseconds
            samples += [
                MetricSample(Self.databaseTick, Double(latest.number)),
                MetricSample(Self.lagTicks, Double(max(0, latest.number - feed.newest.number))),
                MetricSample(Self.lagSeconds, feed.newest.number == 0 ? 0 : Double(max(0, microseconds)) / 1_000_000),
            ]
        }
        return samples
    }
}

extension GatewayFigures {
    package static let ofSequencer = [isSequencer, leaseAge, madeTicks]

    /// The figures of a process that may be the sequencer.
    static func samples(of sequencer: Sequencer) async -> [MetricSample] {
        let status = await sequencer.status
        var samples = [
            MetricSample(GatewayFigures.isSequencer, status.isElected ? 1 : 0),
            MetricSample(GatewayFigures.madeTicks, status.tickCount),
        ]
        if let age = status.leaseAge { samples.append(MetricSample(GatewayFigures.leaseAge, age / .seconds(1))) }
        return samples
    }
}
