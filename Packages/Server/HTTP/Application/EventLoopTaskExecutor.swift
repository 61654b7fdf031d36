import NIOCore

/// Runs tasks on an event loop: what answers a connection's requests then stays on the thread that reads and writes the
/// connection, instead of changing to one of Swift's pool and back several times for every request.
final class EventLoopTaskExecutor: TaskExecutor {
    /// That of the connection which the task serves; nil where requests are answered on Swift's pool.
    @TaskLocal static var current: EventLoopTaskExecutor?

    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
