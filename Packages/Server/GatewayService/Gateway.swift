public import Logging
internal import NIOCore
public import ServiceLifecycle
internal import TomboloAuthentication
internal import TomboloHTTP
public import TomboloMetrics
internal import TomboloModel
public import TomboloSyncSession
package import TomboloWebSocket

/// The sync gateway: one session for each connected device, with one feed and one upload queue for all of them. It is
/// stateless: everything durable is in the store.
public struct Gateway: Service {
    /// The path where devices connect.
    public static let path = "/sync"
    /// The most connected devices of one gateway. Another device is told to try later.
    public static let maximumConnectionCount = 10_000
    /// The most connected devices from one address, which may be a whole venue's.
    public static let maximumConnectionCountOfAddress = 2_000

    /// The most devices that bootstrap or catch up at once; the others wait. The store needs this many database
    /// connections, plus some for the feed and uploads.
    public static let maximumConcurrentReads = 8
    /// The most bytes of received uploads, over all devices, that wait to be applied. Devices that send more wait.
    public static let maximumWaitingUploadByteCount = 32 << 20

    let services: SessionRunner.Services
    private let counter = ConnectionCounter(maximum: Gateway.maximumConnectionCount)
    private let door: ConnectionDoor
    private let logger: Logger

    /// - Parameters:
    ///   - connectionsPerAddress: the most connected devices from one address, including through proxies.
    ///   - metrics: the registry for the gateway's metrics.
    ///   - wakeUps: yields whenever there may be a new tick.
    ///   - onCommit: called after uploads were committed, to nudge the sequencer.
    public init(
        models: any ModelSource, limits: SessionLimits = SessionLimits(),
        connectionsPerAddress: Int = Gateway.maximumConnectionCountOfAddress,
        metrics registry: MetricRegistry = MetricRegistry(),
        wakeUps: @escaping @Sendable () -> AsyncStream<Void>, onCommit: @escaping @Sendable () -> Void, logger: Logger
    ) {
        self.init(
            models: models, users: ConnectedUsers(), limits: limits, connectionsPerAddress: connectionsPerAddress,
            metrics: registry, wakeUps: wakeUps, onCommit: onCommit, logger: logger)
    }

    /// - Parameter users: updated by the gateway. The models' stores may read it.
    init(
        models: any ModelSource, users: ConnectedUsers, limits: SessionLimits = SessionLimits(),
        connectionsPerAddress: Int, metrics registry: MetricRegistry,
        wakeUps: @escaping @Sendable () -> AsyncStream<Void>, onCommit: @escaping @Sendable () -> Void, logger: Logger
    ) {
        let metrics = GatewayMetrics(registry)
        let generations = Generations(
            source: models, users: users, wakeUps: wakeUps, onCommit: onCommit, metrics: metrics, logger: logger)
        services = SessionRunner.Services(
            generations: generations,
            uploadBudget: UploadBudget(
                maximumByteCount: Self.maximumWaitingUploadByteCount, users: generations.users),
            reads: ReadSlots(count: limits.concurrentReads, users: generations.users), heavyWork: ReadSlots(count: 1),
            spools: SpoolBudget(),
            clocks: SessionClocks(), limits: limits, metrics: metrics)
        registry.define(GatewayFigures.definitions)
        registry.collect { [services] in await GatewayFigures(services: services).samples() }
        door = ConnectionDoor(limit: connectionsPerAddress)
        self.logger = logger
    }

    /// Creates a gateway whose model never changes.
    /// - Parameter authorize: returns what an access token allows. Throws ``SessionFailure`` for a token that isn't
    ///   accepted.
    public init(
        store: any ServerStore, limits: SessionLimits = SessionLimits(),
        connectionsPerAddress: Int = Gateway.maximumConnectionCountOfAddress,
        metrics registry: MetricRegistry = MetricRegistry(),
        authorize: @escaping @Sendable (String) async throws -> SessionAuthority,
        wakeUps: @escaping @Sendable () -> AsyncStream<Void>, onCommit: @escaping @Sendable () -> Void, logger: Logger
    ) {
        self.init(
            models: FixedModel(store: store, authorize: authorize), limits: limits,
            connectionsPerAddress: connectionsPerAddress, metrics: registry, wakeUps: wakeUps, onCommit: onCommit,
            logger: logger)
    }

    /// Follows the ticks until shutdown.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            async let memory: Void = MemoryKeeper.run { [counter] in counter.connectedCount }
            await services.generations.run()
            await memory
        }
    }

    /// Serves one device until either side ends the connection or the server shuts down. Call on the connection's
    /// event loop.
    /// - Parameter address: the device's IP address. Empty if it has none, and is not counted by address.
    package func serve(_ socket: ServerSocket, from address: String, logger: Logger) {
        guard counter.enter() else {
            services.metrics.refused(.full)
            logger.warning("Refused a device: \(Self.maximumConnectionCount) are already connected.")
            return socket.close(.goingAway)
        }
        let ended = socket.channel.closeFuture
        ended.whenComplete { [counter] _ in counter.leave() }
        let group = AddressGroup(address)
        if !address.isEmpty {
            if case .full(let isNew) = door.enter(group) {
                services.metrics.refused(.address)
                if isNew { logger.warning("Refusing devices from \(group): \(door.limit) are already connected.") }
                return socket.close(.goingAway)
            }
            ended.whenComplete { [door] _ in door.leave(group) }
        }
        services.metrics.connected()
        SessionRunner(services: services, socket: socket, address: address, logger: logger).start()
    }
}
