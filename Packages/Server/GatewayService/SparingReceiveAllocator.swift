internal import NIOCore

/// Receive buffers for connections that say little most of the time. A channel keeps the buffer that it was first given for
/// as long as it lives: that one is small. Where more comes at a time than it takes, what follows is received in larger
/// buffers, which nobody keeps. Wants channels that read one message at a time, since others keep a buffer for each.
struct SparingReceiveAllocator: RecvByteBufferAllocator {
    /// In bytes. More than most openings of a connection, and than anything that an idle device sends.
    static let keptByteCount = 512
    /// In bytes.
    static let largeByteCount = 64 << 10

    private var byteCount = Self.keptByteCount

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { allocator.buffer(capacity: byteCount) }

    /// - Returns: true to receive in a larger buffer next.
    mutating func record(actualReadBytes: Int) -> Bool {
        byteCount = actualReadBytes < byteCount ? Self.keptByteCount : Self.largeByteCount
        return byteCount > Self.keptByteCount
    }
}
