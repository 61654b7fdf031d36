import Foundation
public import Logging
public import ServiceLifecycle
import TomboloModel

/// Makes backups until shutdown, both requested and automatic ones. Any number of processes may run it. Shutdown ends
/// a backup in progress, and the next start marks it as interrupted.
public struct BackupService: Service {
    /// How soon a requested backup begins.
    static let interval = Duration.milliseconds(500)

    private let backups: Backups
    private let logger: Logger

    public init(_ backups: Backups, logger: Logger) {
        self.backups = backups
        self.logger = logger
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await backups.step(now: Date().microsecondsSince1970)
                } catch is CancellationError {
                    return
                } catch {
                    logger.warning("Can't make backups; will try again: \(error)")
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }
}
