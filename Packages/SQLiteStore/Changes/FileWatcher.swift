internal import Dispatch
internal import Foundation

/// Calls back when anybody, of this or another process, writes to a file: the operating system tells
/// (<https://man7.org/linux/man-pages/man7/inotify.7.html>, on Apple's systems a dispatch source). A burst of writes is
/// one or two calls. Nobody is told where the system has no watch left, or the file cannot be watched.
final class FileWatcher {
    private let source: any DispatchSourceProtocol

    /// After a call, writes are collected for so long: a transaction is several writes.
    private static let pause = DispatchTimeInterval.milliseconds(2)

    /// One for all files: news only travel on from here.
    private static let queue = DispatchQueue(label: "Tombolo.FileWatcher", qos: .userInitiated)

    /// - Parameter path: of a file that is there.
    init?(path: String, _ body: @escaping @Sendable () -> Void) {
        guard let source = Self.source(path) else { return nil }
        self.source = source
        let box = SourceBox(source: source)
        source.setEventHandler {
            box.drain()
            body()
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
