public import Logging
public import ServiceLifecycle
import Synchronization

/// Lets a server leave its load balancer before it ends: from the signal on, `GET /ready` answers 503, while everything
/// else is served as before for a while. Put it last in the `ServiceGroup`: services end in reverse order.
public final class Readiness: Service {
    /// The longest that a server may be asked to wait.
    public static let maximumDrainDelay = Duration.seconds(300)

    private let drainDelay: Duration
    private let logger: Logger
    private let draining = Mutex(false)

    /// - Parameter drainDelay: how long a load balancer takes to notice.
    public init(drainDelay: Duration, logger: Logger) {
        self.drainDelay = drainDelay
        self.logger = logger
    }

    /// Whether the server is about to end.
    public var isDraining: Bool { draining.withLock { $0 } }

    /// Waits for the end of the server's group, and then for the load balancer.
    public func run() async throws {
        try? await gracefulShutdown()
        draining.withLock { $0 = true }
        guard drainDelay > .zero else { return }
        logger.notice("Draining: /ready answers 503, and the server ends in \(drainDelay).")
        // Not cancelled by the shutdown that it delays.
        try? await Task.sleep(for: drainDelay)
    }
}
