import Foundation

/// Removes the clusters when the process exits normally. (After a crash, their watchdogs do it alone.)
final class ExitHandler: @unchecked Sendable {
    // `watchdogs` is only accessed under `lock`.
    static let shared = ExitHandler()
    private let lock = NSLock()
    private var watchdogs: [Watchdog] = []

    private init() {
        atexit {
            for watchdog in ExitHandler.shared.takeAll() { watchdog.release() }
        }
    }

    func add(_ watchdog: Watchdog) {
        lock.withLock { watchdogs.append(watchdog) }
    }

    func remove(_ watchdog: Watchdog) {
        lock.withLock { watchdogs.removeAll { $0 === watchdog } }
    }

    private func takeAll() -> [Watchdog] {
        lock.withLock {
            defer { watchdogs = [] }
            return watchdogs
        }
    }
}
