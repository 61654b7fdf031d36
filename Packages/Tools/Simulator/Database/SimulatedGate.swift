internal import Synchronization

/// Gives one caller at a time access to a simulated database. Never held across a suspension.
final class SimulatedGate: Sendable {
    private let mutex = Mutex(())

    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try mutex.withLock { _ in
            nonisolated(unsafe) let result = try body()
            return result
        }
    }
}
