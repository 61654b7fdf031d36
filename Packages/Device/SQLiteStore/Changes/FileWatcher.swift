internal import Dispatch
internal import Foundation

/// Calls back when any process may have written to a file, as reported by the operating system
/// (<https://man7.org/linux/man-pages/man7/inotify.7.html>, on Apple's systems a dispatch source). A burst of writes
/// causes a few calls. No calls are made if the system has no watches left or the file can't be watched.
///
/// The watch reports one write at a time, so that further writes cost the writer nothing. After a pause it's armed
/// again, followed by a check for writes made in the meantime.
final class FileWatcher {
    private let source: any DispatchSourceProtocol

    /// How long writes are collected, since a transaction consists of several writes.
    private static let pause = DispatchTimeInterval.milliseconds(2)

    /// When to check again after the last write. A commit becomes visible to others only some time later: SQLite waits
    /// for the disk and then changes the shared memory, which the system doesn't report. A busy disk can take seconds,
    /// and a process can be suspended in between.
    static let laterLooks: [DispatchTimeInterval] =
        [10, 50, 250, 1_000, 5_000, 30_000, 120_000].map { .milliseconds($0) }

    /// One queue is enough for all files, because it only passes news on.
    private static let queue = DispatchQueue(label: "Tombolo.FileWatcher", qos: .userInitiated)

    /// - Parameters:
    ///   - path: an existing file.
    ///   - laterLooks: the delays of the checks after the last write, each counted from the check before it.
    ///   - body: called on the watcher's own queue.
    init?(
        path: String, laterLooks: [DispatchTimeInterval] = FileWatcher.laterLooks,
        _ body: @escaping @Sendable () -> Void
    ) {
        guard let watch = OneWriteWatch(path, queue: Self.queue) else { return nil }
        source = watch.source
        let looks = LaterLooks(queue: Self.queue, intervals: laterLooks, body)
        source.setEventHandler {
            guard watch.takeWrite() else { return }
            Self.queue.asyncAfter(deadline: .now() + Self.pause) {
                // Arm the watch before checking, so that later writes are reported.
                guard watch.arm() else { return }
                body()
                looks.start()
            }
        }
        source.activate()
    }

    deinit { source.cancel() }
}

/// Checks several times after the last write. Only used on the watcher's queue, which guards its state.
private final class LaterLooks: @unchecked Sendable {
    private let queue: DispatchQueue
    private let intervals: [DispatchTimeInterval]
    private let body: @Sendable () -> Void
    /// The number of the last write.
    private var write = 0

    init(queue: DispatchQueue, intervals: [DispatchTimeInterval], _ body: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.intervals = intervals
        self.body = body
    }

    /// Starts the checks after a write. They replace those after the previous write.
    func start() {
        write += 1
        wait(0, after: write)
    }

    private func wait(_ look: Int, after write: Int) {
        guard look < intervals.count else { return }
        queue.asyncAfter(deadline: .now() + intervals[look]) { [self] in
            guard write == self.write else { return }
            body()
            wait(look + 1, after: write)
        }
    }
}
