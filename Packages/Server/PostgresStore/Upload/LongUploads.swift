internal import Dispatch
internal import TomboloChangesets
internal import TomboloSyncSession

/// Threads for transactions that compute for long: for each of up to a million instructions they check, hash, decide and write
/// statements, and Swift's pool has no more threads than the machine has processors. All sessions share those; two large uploads
/// would leave them none. Here the operating system divides the time.
///
/// There are no more threads than transactions under way, which `UploadQueue` bounds.
final class LongUploads: TaskExecutor {
    static let shared = LongUploads()

    /// With fewer instructions a transaction computes for a few milliseconds at most, and changing threads isn't worth it.
    static let minimumInstructionCount = 500

    private let queue = DispatchQueue(label: "tombolo.uploads", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Where the transaction of a group runs; nil for the pool.
    static func executor(for group: [Upload]) -> LongUploads? {
        let count = group.reduce(0) { $0 + $1.changeset.instructions.count }
        return count < minimumInstructionCount ? nil : shared
    }
}
