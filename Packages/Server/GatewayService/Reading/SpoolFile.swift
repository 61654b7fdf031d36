internal import Foundation
internal import NIOCore

/// A nameless temporary file of messages, each preceded by its length. The space of messages that were read is only
/// freed once the whole file has been read. The spool that has the file manages the offsets; only reading and writing
/// run on other threads.
final class SpoolFile: @unchecked Sendable {
    /// The size of a length prefix in bytes.
    static let headByteCount = 4

    static func byteCount(of message: [UInt8]) -> Int { headByteCount + message.count }

    private let descriptor: Int32
    /// The ends of what was read, what was written, and what is being written.
    private var start = 0
    private var end = 0
    private var reserved = 0

    /// - Throws: `POSIXError`.
    convenience init() throws {
        var path = Array(
            FileManager.default.temporaryDirectory.appending(path: "tombolo-spool-XXXXXX").path.utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw Self.error }
        unlink(path)
        self.init(descriptor: descriptor)
    }

    /// - Parameter descriptor: an empty file. It's closed with this object.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// The bytes that the file takes on disk, including any that couldn't be written.
    var heldByteCount: Int { reserved }
    var isEmpty: Bool { start == reserved }
    var unread: Range<Int> { start..<end }

    /// - Returns: the offset to write at.
    func reserve(_ count: Int) -> Int {
        let offset = reserved
        reserved += count
        return offset
    }

    /// Marks everything that was reserved as written.
    func commit() { end = reserved }

    /// Records that this many bytes were read.
    /// - Returns: the number of bytes that this frees in the file.
    func take(_ count: Int) -> Int {
        start += count
        guard start == reserved, ftruncate(descriptor, 0) == 0 else { return 0 }
        let given = reserved
        (start, end, reserved) = (0, 0, 0)
        return given
    }

    // MARK: On any thread

    func write(_ message: [UInt8], at offset: Int) throws {
        let bytes = withUnsafeBytes(of: UInt32(message.count).bigEndian, Array.init) + message
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                pwrite(descriptor, buffer.baseAddress! + written, buffer.count - written, off_t(offset + written))
            }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw Self.error
            }
            written += count
        }
    }

    /// Whole messages from the start of a range, of roughly `count` bytes, but at least one.
    func read(_ range: Range<Int>, about count: Int) throws -> [ByteBuffer] {
        guard range.count >= Self.headByteCount else { return [] }
        var buffer = try bytes(
            range.lowerBound..<min(range.lowerBound + max(count, Self.headByteCount), range.upperBound))
        var messages: [ByteBuffer] = []
        while let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) {
            if let message = buffer.getSlice(at: buffer.readerIndex + Self.headByteCount, length: Int(length)) {
                messages.append(message)
                buffer.moveReaderIndex(forwardBy: Self.headByteCount + Int(length))
            } else if messages.isEmpty {
                buffer = try bytes(range.lowerBound..<range.lowerBound + Self.headByteCount + Int(length))
            } else {
                break
            }
        }
        return messages
    }

    private func bytes(_ range: Range<Int>) throws -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(range.count)
        while buffer.readableBytes < range.count {
            let offset = range.lowerBound + buffer.readableBytes
            let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: range.upperBound - offset) { free in
                max(0, pread(descriptor, free.baseAddress!, range.upperBound - offset, off_t(offset)))
            }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw Self.error
            }
        }
        return buffer
    }

    private static var error: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
