import Dispatch

/// Runs an actor whose methods wait for other processes on a queue of its own.
final class BlockingExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "test-cluster")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}
