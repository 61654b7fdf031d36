import AdminService
public import Logging
public import PostgresClient
public import ServiceLifecycle
import TomboloServerModel

/// Rings for pages that are being looked at whenever a tick tells of changes, and applies changes of models. Run it
/// beside the server; without it pages are looked after every few seconds only, and changes of models wait.
public struct PanelFollower: Service {
    /// The most time between two rings.
    static let patience = Duration.seconds(5)

    private let follower: TickFollower
    private let modelChanges: ModelChanges?

    /// - Parameter configuration: of a connection of its own.
    public init(_ panel: AdminPanel, configuration: PostgresConfiguration, logger: Logger) {
        let bell = panel.core.bell
        modelChanges = panel.core.modelChanges
        var configuration = configuration
        configuration.applicationName = "tombolo-panel"
        follower = TickFollower(configuration, patience: Self.patience, logger: logger) { bell.ring() }
    }

    public func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await follower.run() }
            // A change under way ends with the server: PostgreSQL takes back what it hasn't finished.
            if let modelChanges { group.addTask { await cancelWhenGracefulShutdown { await modelChanges.run() } } }
        }
    }
}
