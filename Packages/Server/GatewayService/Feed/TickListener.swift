internal import Logging
internal import PostgresClient
internal import ServiceLifecycle
internal import TomboloPostgresStore

/// Receives the sequencer's notifications from PostgreSQL.
struct TickListener: TickWakeUps {
    let signals = TickSignals()
    private let listener: PostgresListener

    init(configuration: PostgresConfiguration, logger: Logger) {
        listener = PostgresListener(configuration: configuration, channels: [Sequencer.channel], logger: logger)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await listener.run() }
                group.addTask {
                    for await _ in listener.events { signals.send() }
                }
                await group.waitForAll()
            }
        }
        signals.finish()
    }
}
