import Foundation
public import Logging
public import ServiceLifecycle
import TomboloModel

/// Makes backups until shutdown: those that people ask for, and automatic ones. Any number of processes may run one. A backup
/// under way is ended with it, and marked as interrupted at the next start.
public struct BackupService: Service {
    /// How soon a backup begins that somebody asks for.
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
                    logger.warning("Backups can't be made, which will be tried again: \(error)")
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }
}
