package import Logging
package import PostgresClient
import ServiceLifecycle
internal import TomboloPostgresStore

/// Performs an action whenever a tick reports changes, and periodically without one, until shutdown: ticks report
/// changes only while a gateway makes ticks. Calls of the action never overlap.
package struct TickFollower: Sendable {
    /// The shortest time between two calls.
    private static let interval = Duration.milliseconds(200)

    private let listener: PostgresListener
    /// The longest time between two calls.
    private let patience: Duration
    private let action: @Sendable () async -> Void

    /// - Parameter configuration: for a connection of its own.
    package init(
        _ configuration: PostgresConfiguration, patience: Duration, logger: Logger,
        action: @escaping @Sendable () async -> Void
    ) {
        listener = PostgresListener(configuration: configuration, channels: [Sequencer.channel], logger: logger)
        self.patience = patience
        self.action = action
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await listener.run() }
                group.addTask { await follow() }
                await group.waitForAll()
            }
        }
    }

    private func follow() async {
        // Several events between two calls count as one.
        let (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in listener.events { wakeUp.yield() }
                wakeUp.finish()
            }
            group.addTask {
                while (try? await Task.sleep(for: patience)) != nil { wakeUp.yield() }
            }
            group.addTask {
                for await _ in wakeUps {
                    await action()
                    try? await Task.sleep(for: Self.interval)
                }
            }
            await group.waitForAll()
        }
    }
}
