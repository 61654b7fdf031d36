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

    /// Devices that bootstrap or catch up at once; the others wait. The store needs this many database connections,
    /// plus some for the feed and uploads.
    public static let maximumConcurrentReads = 8
    /// Uploads of all devices that wait to be applied, in bytes as they came; devices that send more wait.
    public static let maximumWaitingUploadByteCount = 32 << 20

    private let services: SessionRunner.Services
    private let counter = ConnectionCounter(maximum: Gateway.maximumConnectionCount)
    private let door: ConnectionDoor
    private let logger: Logger

    /// - Parameters:
    ///   - connectionsPerAddress: connected devices of one address, also through proxies.
    ///   - wakeUps: yields whenever there may be a new tick.
    ///   - onCommit: called after uploads were committed: nudges the sequencer.
    public init(
        models: any ModelSource, limits: SessionLimits = SessionLimits(),
        connectionsPerAddress: Int = Gateway.maximumConnectionCountOfAddress,
        wakeUps: @escaping @Sendable () -> AsyncStream<Void>, onCommit: @escaping @Sendable () -> Void, logger: Logger
    ) {
        services = SessionRunner.Services(
            generations: Generations(source: models, wakeUps: wakeUps, onCommit: onCommit, logger: logger),
            uploadBudget: UploadBudget(maximumByteCount: Self.maximumWaitingUploadByteCount),
            reads: ReadSlots(count: limits.concurrentReads), matching: ReadSlots(count: 1), limits: limits)
        door = ConnectionDoor(limit: connectionsPerAddress)
        self.logger = logger
    }

    /// A gateway whose model never changes.
    /// - Parameter authorize: what an access token allows; throws ``SessionFailure`` for one that is not accepted.
    public init(
        store: any ServerStore, limits: SessionLimits = SessionLimits(),
        connectionsPerAddress: Int = Gateway.maximumConnectionCountOfAddress,
        authorize: @escaping @Sendable (String) async throws -> SessionAuthority,
        wakeUps: @escaping @Sendable () -> AsyncStream<Void>, onCommit: @escaping @Sendable () -> Void, logger: Logger
    ) {
        self.init(
            models: FixedModel(store: store, authorize: authorize), limits: limits,
            connectionsPerAddress: connectionsPerAddress, wakeUps: wakeUps, onCommit: onCommit, logger: logger)
    }

    /// Follows the ticks until shutdown.
    public func run() async throws {
        await cancelWhenGracefulShutdown { await services.generations.run() }
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
