internal import Dispatch
internal import Foundation

/// Calls back when anybody, of this or another process, may have written to a file: the operating system tells
/// (<https://man7.org/linux/man-pages/man7/inotify.7.html>, on Apple's systems a dispatch source). A burst of writes is
/// a few calls. Nobody is told where the system has no watch left, or the file cannot be watched.
///
/// The system is asked for one write at a time, so that the others cost their writer nothing: it is asked again after
/// a pause, and then looked at what was written meanwhile.
final class FileWatcher {
    private let source: any DispatchSourceProtocol

    /// How long writes are collected: a transaction is several writes.
    private static let pause = DispatchTimeInterval.milliseconds(2)

    /// When to look again after the last write. A commit shows to others only some time after it: SQLite waits for the
    /// disk, then changes the memory that connections share, of which the system does not tell.
    private static let laterLooks: [DispatchTimeInterval] = [10, 50, 250, 1_000].map { .milliseconds($0) }

    /// One for all files: news only travel on from here.
    private static let queue = DispatchQueue(label: "Tombolo.FileWatcher", qos: .userInitiated)

    /// - Parameters:
    ///   - path: of a file that is there.
    ///   - body: called on a queue of the watcher's own.
    init?(path: String, _ body: @escaping @Sendable () -> Void) {
        guard let watch = OneWriteWatch(path, queue: Self.queue) else { return nil }
        source = watch.source
        let looks = LaterLooks(queue: Self.queue, intervals: Self.laterLooks, body)
        source.setEventHandler {
            guard watch.takeWrite() else { return }
            Self.queue.asyncAfter(deadline: .now() + Self.pause) {
                // Before looking: what is written from now on is told.
                guard watch.arm() else { return }
                body()
                looks.start()
            }
        }
        source.activate()
    }

    deinit { source.cancel() }
}

/// Looks several times after the last write. Used on the watcher's queue only, which guards its state.
private final class LaterLooks: @unchecked Sendable {
    private let queue: DispatchQueue
    private let intervals: [DispatchTimeInterval]
    private let body: @Sendable () -> Void
    private var isWaiting = false
    private var hasStartedAnew = false

    init(queue: DispatchQueue, intervals: [DispatchTimeInterval], _ body: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.intervals = intervals
        self.body = body
    }

    /// There was a write.
    func start() {
        if isWaiting { hasStartedAnew = true } else { wait(0) }
    }

    private func wait(_ look: Int) {
        isWaiting = true
        queue.asyncAfter(deadline: .now() + intervals[look]) { [self] in
            body()
            let following = hasStartedAnew ? 0 : look + 1
            hasStartedAnew = false
            if following < intervals.count { wait(following) } else { isWaiting = false }
        }
    }
}
