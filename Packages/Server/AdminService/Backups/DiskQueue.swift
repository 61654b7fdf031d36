import Dispatch

/// Runs what waits for a disk on a thread outside of Swift's pool and of event loops, one piece of work after the other.
struct DiskQueue: Sendable {
    private let queue = DispatchQueue(label: "tombolo.backups")

    func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { done in
            queue.async { done.resume(with: Result(catching: body)) }
        }
    }
}
