import Dispatch

/// Runs an actor on its own queue, because its methods block while waiting for other processes.
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
