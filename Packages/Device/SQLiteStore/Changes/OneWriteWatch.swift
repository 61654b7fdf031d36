internal import Dispatch
internal import Foundation

/// Fires a dispatch source at the first write to a file, and at the first write after each ``arm()``. Only used on the
/// source's serial queue.
struct OneWriteWatch: @unchecked Sendable {
    let source: any DispatchSourceProtocol

    #if os(Linux)
        private let descriptor: Int32
        private let path: String

        /// Nil if the system has no watches left or the file doesn't exist.
        init?(_ path: String, queue: DispatchQueue) {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            self.descriptor = descriptor
            self.path = path
            guard Self.watch(path, descriptor) else {
                close(descriptor)
                return nil
            }
            source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setCancelHandler { close(descriptor) }
        }

        private static func watch(_ path: String, _ descriptor: Int32) -> Bool {
            inotify_add_watch(descriptor, path, UInt32(IN_MODIFY) | UInt32(IN_ONESHOT)) >= 0
        }

        /// Reads the system's events.
        /// - Returns: whether there was a write. The system also reports dropped watches.
        func takeWrite() -> Bool {
            withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
                guard let start = buffer.baseAddress else { return false }
                var hasWrite = false
                while true {
                    let count = read(descriptor, start, buffer.count)
                    guard count > 0 else { return hasWrite }
                    var offset = 0
                    while offset + MemoryLayout<inotify_event>.size <= count {
                        let event = start.load(fromByteOffset: offset, as: inotify_event.self)
                        if event.mask & UInt32(IN_MODIFY) != 0 { hasWrite = true }
                        offset += MemoryLayout<inotify_event>.size + Int(event.len)
                    }
                }
            }
        }

        /// - Returns: false if the source was cancelled.
        func arm() -> Bool {
            // After cancellation, the descriptor is closed on this queue.
            guard !source.isCancelled else { return false }
            _ = Self.watch(path, descriptor)
            return true
        }
    #else
        init?(_ path: String, queue: DispatchQueue) {
            let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: [.write, .extend], queue: queue)
            source.setCancelHandler { close(descriptor) }
        }

        func takeWrite() -> Bool {
            source.suspend()
            return true
        }

        func arm() -> Bool {
            source.resume()
            return !source.isCancelled
        }
    #endif
}
