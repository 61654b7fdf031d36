internal import Foundation
package import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket

/// What a server does with a connection's messages. Every call comes on the connection's event loop.
package protocol MessageReceiver: AnyObject, Sendable {
    /// A whole binary message. After ``ServerSocket/pause()`` the ones that were read already still come.
    func received(_ message: ByteBuffer)
    /// Any frame came: the other side is alive.
    func heard()
    /// The connection takes data again, or no longer.
    func writabilityChanged(to isWritable: Bool)
    /// The server shuts down.
    func shouldClose()
    /// The connection has ended; nothing else follows.
    func closed()
}

/// A server's end of a WebSocket connection, driven on its event loop: it owns no task, no timer and no stream. Use it on that
/// event loop alone, except for ``channel``.
///
/// It answers pings, joins fragments and conducts the closing handshake, as ``MessageSocket`` does for a client. Its owner
/// decides how long the other side may be silent.
package struct ServerSocket: Sendable {
    /// Bytes that may wait for the network before ``MessageReceiver/writabilityChanged(to:)`` says stop, and when it says go
    /// on.
    package static let writeWatermarks = (low: 32 << 10, high: 256 << 10)

    package let channel: any NIOCore.Channel
    private let handler: NIOLoopBound<ServerSocketHandler>
    private let frames: NIOLoopBound<MessageSocketHandler>

    /// Wraps an upgraded channel. Call on its event loop.
    /// - Parameter openingByteCount: the number of bytes the other side may send before ``liftOpeningLimit()``; nil for no
    ///   limit.
    package init(upgraded channel: any NIOCore.Channel, openingByteCount: Int? = nil) throws {
        self.channel = channel
        let pipeline = channel.pipeline.syncOperations
        if let openingByteCount {
            try pipeline.addHandler(OpeningLimitHandler(byteCount: openingByteCount), position: .first)
        }
        let frames = MessageSocketHandler(isClient: false)
        let handler = ServerSocketHandler()
        try pipeline.addHandlers([frames, handler])
        try channel.syncOptions?.setOption(
            .writeBufferWaterMark, value: .init(low: Self.writeWatermarks.low, high: Self.writeWatermarks.high))
        self.frames = NIOLoopBound(frames, eventLoop: channel.eventLoop)
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    /// Hands messages over from now on. The socket keeps the receiver until the connection ends.
    package func start(_ receiver: any MessageReceiver) { handler.value.start(receiver) }

    /// Lets the other side send any amount from now on, in messages of up to ``MessageSocket/maximumMessageByteCount``.
    package func liftOpeningLimit() {
        let pipeline = channel.pipeline.syncOperations
        // None is left on a connection that has ended.
        guard let context = try? pipeline.context(handlerType: OpeningLimitHandler.self) else { return }
        pipeline.removeHandler(context: context, promise: nil)
    }

    /// Reads nothing more from the network until ``resume()``.
    package func pause() { handler.value.pause() }

    package func resume() { handler.value.resume() }

    /// Whether the connection takes data without collecting it in memory.
    package var isWritable: Bool { channel.isWritable }

    /// Writes a binary message; ``flush()`` sends it.
    package func write(_ message: ByteBuffer) {
        handler.value.write(WebSocketFrame(fin: true, opcode: .binary, data: message))
    }

    package func flush() { handler.value.flush() }

    /// Asks the other side for a sign of life.
    package func ping() {
        handler.value.write(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer()))
        handler.value.flush()
    }

    /// Begins a new interval for counting the other side's pings: ``MessageSocket/pingInterval`` has passed.
    package func countPingsAnew() { frames.value.countControlFramesAnew() }

    /// Closes the connection, with the closing handshake, after what was written before.
    package func close(_ reason: CloseReason) {
        channel.triggerUserOutboundEvent(SocketCommand.closeWith(reason.code), promise: nil)
        channel.close(promise: nil)
    }

    package enum CloseReason: Sendable {
        case normal
        case goingAway
        case unexpectedError

        var code: WebSocketErrorCode {
            switch self {
            case .normal: .normalClosure
            case .goingAway: .goingAway
            case .unexpectedError: .unexpectedServerError
            }
        }
    }

    /// Ends the network connection at once.
    package func drop() { channel.triggerUserOutboundEvent(SocketCommand.drop, promise: nil) }

    /// The number of bytes written but not yet passed to the operating system.
    package var pendingByteCount: Int { (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }

    /// The number of bytes the other side's operating system has confirmed since the connection began, or nil if this
    /// system doesn't know. It grows in small steps, unlike ``pendingByteCount``, which hides megabytes in this system's own
    /// buffer. May be called from anywhere.
    package func confirmedByteCount() async throws -> Int? {
        #if os(Linux)
            guard let provider = channel as? any SocketOptionProvider else { return nil }
            let information: TCPInformation = try await provider.unsafeGetSocketOption(level: .tcp, name: .tcp_info)
                .get()
            return information.confirmedByteCount > 0 ? Int(clamping: information.confirmedByteCount) : nil
        #else
            return nil
        #endif
    }
}
