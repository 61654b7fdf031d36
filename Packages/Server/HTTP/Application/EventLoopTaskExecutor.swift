package import NIOCore

/// Runs tasks on an event loop. The code that answers a connection's requests then stays on the thread that reads and
/// writes the connection. Otherwise every request would hop to a thread of Swift's pool and back several times.
package final class EventLoopTaskExecutor: TaskExecutor {
    /// The executor of the connection that the task serves; nil if requests are answered on Swift's pool.
    @TaskLocal package static var current: EventLoopTaskExecutor?

    private let eventLoop: any EventLoop

    package init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
