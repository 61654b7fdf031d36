package import Foundation
public import Logging
public import ServiceLifecycle
public import TomboloAuthentication
import TomboloHTTP

/// Records in the audit log that people no longer view the panel as others once those sessions have ended, until
/// shutdown. Any number of processes may run one.
public struct ViewingService: Service {
    /// The longest delay before an end is recorded.
    public static let interval = Duration.seconds(60)

    private let authenticator: Authenticator
    private let logger: Logger

    public init(authenticator: Authenticator, logger: Logger) {
        self.authenticator = authenticator
        self.logger = logger
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await Self.end(authenticator)
                } catch is CancellationError {
                    return
                } catch {
                    logger.warning("Can't end the viewings of expired sessions; will try again: \(error)")
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    /// - Parameter now: sessions that have expired by this time have ended.
    package static func end(_ authenticator: Authenticator, now: Date = Date()) async throws {
        try await ChangeOrigin(.system, route: "end of expired sessions").run {
            try await authenticator.endExpiredViewings(now: now)
        }
    }
}
