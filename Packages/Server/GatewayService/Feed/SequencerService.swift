public import Logging
public import PostgresClient
public import ServiceLifecycle
public import TomboloMetrics
public import TomboloRedis
internal import TomboloPostgresStore

/// Stands for election as the sequencer until shutdown.
public struct SequencerService: Service {
    let sequencer: Sequencer
    private let publisher: RedisTickPublisher?

    /// - Parameter redis: where to announce ticks in addition to PostgreSQL, or nil for PostgreSQL only.
    public init(configuration: PostgresConfiguration, redis: RedisAddress? = nil, logger: Logger) {
        let publisher = redis.map { RedisTickPublisher($0, logger: logger) }
        self.publisher = publisher
        sequencer = Sequencer(
            configuration: configuration, onTick: { publisher?.publish($0) }, logger: logger)
    }

    /// Adds to the metrics whether this process is the sequencer.
    public func collect(into registry: MetricRegistry) {
        let sequencer = sequencer
        registry.define(GatewayFigures.ofSequencer)
        registry.collect { await GatewayFigures.samples(of: sequencer) }
    }

    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            if let publisher { group.addTask { try await publisher.run() } }
            group.addTask { await cancelWhenGracefulShutdown { await sequencer.run() } }
            try await group.waitForAll()
        }
    }
}
