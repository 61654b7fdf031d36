public import Logging
public import ServiceLifecycle
import TomboloHTTP

/// Writes the requests of a server into the database every few seconds, and the rest at shutdown. In a service group it stands
/// before the server, so that it ends after it.
public struct RequestWriterService: Service {
    static let interval = Duration.seconds(2)
    /// How long it may take at shutdown; what isn't written by then is lost.
    static let lastTimeout = Duration.seconds(5)

    private let writer: RequestWriter

    public init(_ requests: KeptRequests, logger: Logger) { writer = RequestWriter(requests, logger: logger) }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                _ = await writer.writeAll()
                try? await Task.sleep(for: Self.interval)
            }
        }
        _ = try? await withTimeout(Self.lastTimeout.patient) { await writer.writeAll() }
    }
}
