package import NIOCore

/// Runs tasks on an event loop: what answers a connection's requests then stays on the thread that reads and writes the
/// connection, instead of changing to one of Swift's pool and back several times for every request.
package final class EventLoopTaskExecutor: TaskExecutor {
    /// That of the connection which the task serves; nil where requests are answered on Swift's pool.
    @TaskLocal package static var current: EventLoopTaskExecutor?

    private let eventLoop: any EventLoop

    package init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
