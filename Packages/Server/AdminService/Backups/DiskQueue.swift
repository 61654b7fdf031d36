import Dispatch

/// Runs work that blocks on a disk on a thread outside Swift's pool and event loops, one item at a time.
struct DiskQueue: Sendable {
    private let queue = DispatchQueue(label: "tombolo.backups")

    func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { done in
            queue.async { done.resume(with: Result(catching: body)) }
        }
    }
}
