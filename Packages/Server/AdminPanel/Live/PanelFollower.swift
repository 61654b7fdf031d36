public import Logging
public import PostgresClient
public import ServiceLifecycle
import TomboloPostgresStore

/// Rings for pages that are being looked at whenever a tick tells of changes. Run it beside the server; without it pages
/// are looked after every few seconds only.
public struct PanelFollower: Service {
    /// The least time between two rings.
    static let interval = Duration.milliseconds(200)
    /// The most: ticks tell of changes only while a gateway makes some.
    static let patience = Duration.seconds(5)

    private let bell: TickBell
    private let listener: PostgresListener

    /// - Parameter configuration: of a connection of its own.
    public init(_ panel: AdminPanel, configuration: PostgresConfiguration, logger: Logger) {
        bell = panel.core.bell
        var configuration = configuration
        configuration.applicationName = "tombolo-panel"
        listener = PostgresListener(configuration: configuration, channels: [Sequencer.channel], logger: logger)
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await listener.run() }
                group.addTask { await follow() }
                await group.waitForAll()
            }
        }
    }

    private func follow() async {
        // Events of the time between two rings ring once.
        let (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in listener.events { wakeUp.yield() }
                wakeUp.finish()
            }
            group.addTask {
                while (try? await Task.sleep(for: Self.patience)) != nil { wakeUp.yield() }
            }
            group.addTask {
                for await _ in wakeUps {
                    bell.ring()
                    try? await Task.sleep(for: Self.interval)
                }
            }
            await group.waitForAll()
        }
    }
}
