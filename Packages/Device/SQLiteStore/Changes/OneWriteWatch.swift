internal import Dispatch
internal import Foundation

/// Makes a dispatch source ready at the first write to a file, and at the first one after each ``arm()``. Used on the
/// source's queue only, which is serial.
struct OneWriteWatch: @unchecked Sendable {
    let source: any DispatchSourceProtocol

    #if os(Linux)
        private let descriptor: Int32
        private let path: String

        /// Nil where the system has no watch left, or there is no file.
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

        /// Takes what the system has to say.
        /// - Returns: whether there was a write; the system also tells that it has forgotten the watch.
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

        /// - Returns: false after the source was cancelled.
        func arm() -> Bool {
            // The descriptor is closed on this queue, after it was cancelled.
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
