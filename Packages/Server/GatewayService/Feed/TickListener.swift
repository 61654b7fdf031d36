internal import Logging
internal import PostgresClient
internal import ServiceLifecycle
internal import TomboloPostgresStore

/// Hears the sequencer's notifications.
struct TickListener: Service {
    private let listener: PostgresListener

    init(configuration: PostgresConfiguration, logger: Logger) {
        listener = PostgresListener(configuration: configuration, channels: [Sequencer.channel], logger: logger)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await listener.run() }
    }

    /// Yields for every notification, and after every reconnect, since some may have been missed.
    func wakeUps() -> AsyncStream<Void> {
        let events = listener.events
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            for await _ in events { continuation.yield() }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
