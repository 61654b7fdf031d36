public import Logging
public import ServiceLifecycle
internal import TomboloAuthentication
internal import TomboloHTTP
internal import TomboloModel
public import TomboloSyncSession
public import TomboloWebSocket

/// The sync gateway: one session for each connected device, one feed and one upload queue for all of them. Stateless:
/// what must last is in the store.
public struct Gateway: Service {
    /// Where devices connect.
    public static let path = "/sync"
    /// Connected devices of one gateway; the next is told to try later.
    public static let maximumConnectionCount = 10_000
    /// Connected devices of one address: a whole venue may stand behind it.
    public static let maximumConnectionCountOfAddress = 2_000

    /// Devices that bootstrap or catch up at once; the others wait. The store needs so many database connections, and
    /// some for the feed and uploads.
    public static let maximumConcurrentReads = 8
    /// Uploads of all devices that wait to be applied, in bytes as they came; devices that send more wait.
    public static let maximumWaitingUploadByteCount = 32 << 20

    private let services: SessionRunner.Services
    private let wakeUps: @Sendable () -> AsyncStream<Void>
    private let counter = ConnectionCounter(maximum: Gateway.maximumConnectionCount)
    private let door: ConnectionDoor
    private let logger: Logger

    /// - Parameters:
    ///   - connectionsPerAddress: connected devices of one address, also through proxies.
    ///   - authorize: what an access token allows; throws ``SessionFailure`` for one that is not accepted.
    ///   - wakeUps: yields whenever there may be a new tick.
    ///   - onCommit: called after uploads were committed: nudges the sequencer.
    public init(
        store: any ServerStore, limits: SessionLimits = SessionLimits(),
        connectionsPerAddress: Int = Gateway.maximumConnectionCountOfAddress,
        authorize: @escaping @Sendable (String) async throws -> SessionAuthority,
        wakeUps: @escaping @Sendable () -> AsyncStream<Void>, onCommit: @escaping @Sendable () -> Void, logger: Logger
    ) {
        services = SessionRunner.Services(
            store: store, feed: TickFeed(store: store, logger: logger),
            uploads: UploadQueue(store: store, onCommit: onCommit),
            uploadBudget: UploadBudget(maximumByteCount: Self.maximumWaitingUploadByteCount),
            reads: ReadSlots(count: limits.concurrentReads), matching: ReadSlots(count: 1),
            authorize: authorize, limits: limits)
        self.wakeUps = wakeUps
        door = ConnectionDoor(limit: connectionsPerAddress)
        self.logger = logger
    }

    /// Follows the ticks until shutdown.
    public func run() async throws {
        await cancelWhenGracefulShutdown { await services.feed.run(wakeUps: wakeUps()) }
    }

    /// Serves one device until either side ends the connection or the server shuts down.
    /// - Parameter address: the device's IP address, or empty if it has none and is not counted by address.
    public func serve(_ socket: MessageSocket, from address: String, logger: Logger) async {
        guard counter.enter() else {
            logger.warning("A device was turned away: \(Self.maximumConnectionCount) are connected.")
            await socket.close()
            return
        }
        defer { counter.leave() }
        let group = AddressGroup(address)
        if !address.isEmpty, case .full(let isNew) = door.enter(group) {
            if isNew { logger.warning("Devices from \(group) are turned away: \(door.limit) are connected.") }
            await socket.close()
            return
        }
        defer { if !address.isEmpty { door.leave(group) } }
        let runner = SessionRunner(services: services, logger: logger)
        do {
            try await cancelWhenGracefulShutdown {
                try await socket.run(silenceLimit: services.limits.silenceLimit) { messages, writer in
                    try await runner.run(messages, writer)
                }
            }
        } catch is CancellationError {
            return
        } catch {
            logger.debug("A session ended: \(error)")
        }
    }
}
