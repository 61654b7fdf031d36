import AdminService
public import Logging
public import PostgresClient
public import ServiceLifecycle
import TomboloServerModel

/// Rings the bell of open pages when a tick reports changes, picks up settings that were changed in the panel of any
/// server, and applies changes of models. Run it alongside the server. Without it, open pages aren't told of later
/// changes, settings are those of the start and of this server's panel, and changes of models wait.
public struct PanelFollower: Service {
    /// The maximum interval between two rings, and between two reads of the settings.
    static let patience = Duration.seconds(5)

    private let follower: TickFollower
    private let modelChanges: ModelChanges?

    /// - Parameter configuration: used for a separate connection.
    public init(_ panel: AdminPanel, configuration: PostgresConfiguration, logger: Logger) {
        let (bell, live, pool) = (panel.core.bell, panel.core.live, panel.core.pool)
        modelChanges = panel.core.modelChanges
        var configuration = configuration
        configuration.applicationName = "tombolo-panel"
        follower = TickFollower(configuration, patience: Self.patience, logger: logger) {
            bell.ring()
            await live.follow(pool, logger: logger)
        }
    }

    public func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await follower.run() }
            // A change under way ends with the server: PostgreSQL rolls back what is unfinished.
            if let modelChanges { group.addTask { await cancelWhenGracefulShutdown { await modelChanges.run() } } }
        }
    }
}
