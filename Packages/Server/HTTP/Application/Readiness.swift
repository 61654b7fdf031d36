public import Logging
public import ServiceLifecycle
import Synchronization

/// Lets a server leave its load balancer before it stops. From the shutdown signal on, `GET /ready` answers 503, while
/// everything else is still served for a while. Put it last in the `ServiceGroup`: services stop in reverse order.
public final class Readiness: Service {
    /// The longest delay that can be configured.
    public static let maximumDrainDelay = Duration.seconds(300)

    private let drainDelay: Duration
    private let logger: Logger
    private let draining = Mutex(false)

    /// - Parameter drainDelay: how long a load balancer takes to notice.
    public init(drainDelay: Duration, logger: Logger) {
        self.drainDelay = drainDelay
        self.logger = logger
    }

    /// Whether the server is about to stop.
    public var isDraining: Bool { draining.withLock { $0 } }

    /// Waits for the shutdown of the server's group, and then for the load balancer.
    public func run() async throws {
        try? await gracefulShutdown()
        draining.withLock { $0 = true }
        guard drainDelay > .zero else { return }
        logger.notice("Draining: /ready answers 503, and the server ends in \(drainDelay).")
        // The shutdown that this delays doesn't cancel it.
        try? await Task.sleep(for: drainDelay)
    }
}
