internal import Dispatch
internal import Foundation

/// Calls back when anybody, of this or another process, writes to a file: the operating system tells
/// (<https://man7.org/linux/man-pages/man7/inotify.7.html>, on Apple's systems a dispatch source). A burst of writes is
/// a few calls. Nobody is told where the system has no watch left, or the file cannot be watched.
final class FileWatcher {
    private let source: any DispatchSourceProtocol

    /// After a call, writes are collected for so long: a transaction is several writes.
    private static let pause = DispatchTimeInterval.milliseconds(2)

    /// When to look again after the last write. A commit shows to others only some time after it: SQLite waits for the
    /// disk, then changes the memory that connections share, of which the system does not tell.
    private static let laterLooks: [DispatchTimeInterval] = [10, 50, 250, 1_000].map { .milliseconds($0) }

    /// One for all files: news only travel on from here.
    private static let queue = DispatchQueue(label: "Tombolo.FileWatcher", qos: .userInitiated)

    /// - Parameters:
    ///   - path: of a file that is there.
    ///   - body: told whether it is one of the later looks.
    init?(path: String, _ body: @escaping @Sendable (_ isLaterLook: Bool) -> Void) {
        guard let source = Self.source(path) else { return nil }
        self.source = source
        let box = SourceBox(source: source)
        let looks = LaterLooks(queue: Self.queue, intervals: Self.laterLooks) { body(true) }
        source.setEventHandler {
            box.drain()
            body(false)
            looks.start()
            box.source.suspend()
            Self.queue.asyncAfter(deadline: .now() + Self.pause) { box.source.resume() }
        }
        source.activate()
    }

    deinit { source.cancel() }

    #if os(Linux)
        private static func source(_ path: String) -> (any DispatchSourceProtocol)? {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            guard inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
                close(descriptor)
                return nil
            }
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setCancelHandler { close(descriptor) }
            return source
        }
    #else
        private static func source(_ path: String) -> (any DispatchSourceProtocol)? {
            let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: [.write, .extend], queue: queue)
            source.setCancelHandler { close(descriptor) }
            return source
        }
    #endif
}

/// A dispatch source, whose own methods any thread may call; only the watcher's queue calls them here.
private struct SourceBox: @unchecked Sendable {
    let source: any DispatchSourceProtocol

    /// Takes what the system has to say, all of which means: look.
    func drain() {
        #if os(Linux)
            let descriptor = Int32(bitPattern: UInt32(truncatingIfNeeded: source.handle))
            withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
                while let start = buffer.baseAddress, read(descriptor, start, buffer.count) > 0 {}
            }
        #endif
    }
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
