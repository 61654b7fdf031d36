public import Logging
public import PostgresClient
public import ServiceLifecycle
import TomboloServerModel

/// Rings for pages that are being looked at whenever a tick tells of changes. Run it beside the server; without it pages
/// are looked after every few seconds only.
public struct PanelFollower: Service {
    /// The most time between two rings.
    static let patience = Duration.seconds(5)

    private let follower: TickFollower

    /// - Parameter configuration: of a connection of its own.
    public init(_ panel: AdminPanel, configuration: PostgresConfiguration, logger: Logger) {
        let bell = panel.core.bell
        var configuration = configuration
        configuration.applicationName = "tombolo-panel"
        follower = TickFollower(configuration, patience: Self.patience, logger: logger) { bell.ring() }
    }

    public func run() async throws { await follower.run() }
}
