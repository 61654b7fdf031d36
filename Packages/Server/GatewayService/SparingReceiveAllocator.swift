internal import NIOCore

/// Receive buffers for connections that are quiet most of the time. A channel keeps its first buffer as long as it
/// lives, so that one is small. If more data arrives at once than fits, the rest is received in larger buffers, which
/// aren't kept. Needs channels that read one message at a time, because others keep a buffer for each message.
struct SparingReceiveAllocator: RecvByteBufferAllocator {
    /// Bytes. Larger than most connection openings, and than anything that an idle device sends.
    static let keptByteCount = 512
    /// Bytes.
    static let largeByteCount = 64 << 10

    private var byteCount = Self.keptByteCount

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { allocator.buffer(capacity: byteCount) }

    /// - Returns: true to receive in a larger buffer next.
    mutating func record(actualReadBytes: Int) -> Bool {
        byteCount = actualReadBytes < byteCount ? Self.keptByteCount : Self.largeByteCount
        return byteCount > Self.keptByteCount
    }
}
