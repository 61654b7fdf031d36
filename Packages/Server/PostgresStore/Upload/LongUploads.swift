internal import Dispatch
internal import TomboloChangesets
internal import TomboloSyncSession

/// Threads for transactions that compute for long. They check, hash, decide and write statements for up to a million
/// instructions each. Swift's pool has only as many threads as the machine has processors, and all sessions share
/// them: two large uploads could leave them none. Here the operating system divides the time.
///
/// There are never more threads than running transactions, whose number `UploadQueue` bounds.
final class LongUploads: TaskExecutor {
    static let shared = LongUploads()

    /// A transaction with fewer instructions computes for a few milliseconds at most, which isn't worth changing
    /// threads.
    static let minimumInstructionCount = 500

    private let queue = DispatchQueue(label: "tombolo.uploads", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Where the transaction of a group runs, or nil for Swift's pool.
    static func executor(for group: [Upload]) -> LongUploads? {
        let count = group.reduce(0) { $0 + $1.changeset.instructions.count }
        return count < minimumInstructionCount ? nil : shared
    }
}
