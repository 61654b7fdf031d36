public import NIOCore

/// The binary messages of a connection. A bounded amount is read from the network in advance.
public struct MessageStream: AsyncSequence, Sendable {
    public typealias Element = ByteBuffer

    let inbox: MessageInbox

    public func makeAsyncIterator() -> Iterator { Iterator(inbox: inbox) }

    /// Use a single iterator for all messages of a connection. It never writes, because two sides that each wait for
    /// the other to read would deadlock.
    public struct Iterator: AsyncIteratorProtocol {
        let inbox: MessageInbox
        private var arrived: ArraySlice<ByteBuffer> = []

        init(inbox: MessageInbox) { self.inbox = inbox }

        /// The next message, or nil when the connection has ended.
        public mutating func next() async throws -> ByteBuffer? {
            if arrived.isEmpty { arrived = try await inbox.take()?[...] ?? [] }
            return arrived.popFirst()
        }

        /// All messages since the last call, at least one, in order, or nil when the connection has ended. Runs on
        /// the caller's actor.
        public mutating func nextArrived(
            isolation: isolated (any Actor)? = #isolation
        ) async throws -> [ByteBuffer]? {
            guard arrived.isEmpty else {
                defer { arrived = [] }
                return Array(arrived)
            }
            return try await inbox.take(isolation: isolation)
        }
    }
}
