public import Logging
public import PostgresClient
public import ServiceLifecycle
internal import TomboloPostgresStore

/// Stands for election as the sequencer until shutdown.
public struct SequencerService: Service {
    private let sequencer: Sequencer

    public init(configuration: PostgresConfiguration, logger: Logger) {
        self.init(sequencer: Sequencer(configuration: configuration, logger: logger))
    }

    init(sequencer: Sequencer) { self.sequencer = sequencer }

    public func run() async throws {
        await cancelWhenGracefulShutdown { await sequencer.run() }
    }
}
