internal import Dispatch

/// Runs an actor on its own serial queue, so that SQLite's blocking calls never block Swift's thread pool.
final class SyncQueueExecutor: SerialExecutor {
    private let queue: DispatchQueue
    /// For tasks that mostly call the actor. Their own code runs on the actor's queue too.
    let tasks: any TaskExecutor
    private static let current = DispatchSpecificKey<ObjectIdentifier>()

    init(label: String) {
        queue = DispatchQueue(label: label)
        tasks = Tasks(queue: queue)
        queue.setSpecific(key: Self.current, value: ObjectIdentifier(queue))
    }

    private final class Tasks: TaskExecutor {
        private let queue: DispatchQueue

        init(queue: DispatchQueue) { self.queue = queue }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// Runs `body` on the queue and waits for it. If the caller is already on the queue, runs it directly.
    func run(_ body: () -> Void) {
        if DispatchQueue.getSpecific(key: Self.current) == ObjectIdentifier(queue) {
            body()
        } else {
            queue.sync(execute: body)
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
