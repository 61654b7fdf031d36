internal import Foundation
package import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket

/// Handles the messages of a server's connection. Every call comes on the connection's event loop.
package protocol MessageReceiver: AnyObject, Sendable {
    /// A whole binary message arrived. Messages that were read before ``ServerSocket/pause()`` still arrive after it.
    func received(_ message: ByteBuffer)
    /// A frame of any kind arrived: the other side is alive.
    func heard()
    /// The connection accepts data again, or no longer does.
    func writabilityChanged(to isWritable: Bool)
    /// The server is shutting down.
    func shouldClose()
    /// The connection has ended, and no other calls follow.
    func closed()
}

/// A server's end of a WebSocket connection, driven by its event loop: it owns no task, no timer and no stream. Use
/// it only on that event loop, except for ``channel``.
///
/// Like ``MessageSocket`` for a client, it answers pings, joins fragments and conducts the closing handshake. Its
/// owner decides how long the other side may be silent.
package struct ServerSocket: Sendable {
    /// The bytes waiting for the network at which ``MessageReceiver/writabilityChanged(to:)`` reports a stop (high),
    /// and below which it reports that writing may continue (low).
    package static let writeWatermarks = (low: 32 << 10, high: 256 << 10)

    package let channel: any NIOCore.Channel
    private let handler: NIOLoopBound<ServerSocketHandler>
    private let frames: NIOLoopBound<MessageSocketHandler>

    /// Wraps an upgraded channel. Call on its event loop.
    /// - Parameter openingByteCount: the number of bytes that the other side may send before ``liftOpeningLimit()``,
    ///   or nil for no limit.
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

    /// Delivers messages from now on. The socket keeps the receiver until the connection ends.
    package func start(_ receiver: any MessageReceiver) { handler.value.start(receiver) }

    /// Lets the other side send any amount from now on, in messages of up to ``MessageSocket/maximumMessageByteCount``.
    package func liftOpeningLimit() {
        let pipeline = channel.pipeline.syncOperations
        // The handler is already gone if the connection has ended.
        guard let context = try? pipeline.context(handlerType: OpeningLimitHandler.self) else { return }
        pipeline.removeHandler(context: context, promise: nil)
    }

    /// Reads nothing more from the network until ``resume()``.
    package func pause() { handler.value.pause() }

    package func resume() { handler.value.resume() }

    /// Whether the connection accepts data without buffering it in memory.
    package var isWritable: Bool { channel.isWritable }

    /// Writes a binary message; ``flush()`` sends it.
    package func write(_ message: ByteBuffer) {
        handler.value.write(WebSocketFrame(fin: true, opcode: .binary, data: message))
    }

    package func flush() { handler.value.flush() }

    /// Pings the other side.
    package func ping() {
        handler.value.write(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer()))
        handler.value.flush()
    }

    /// Starts a new interval for counting the other side's pings. Call every ``MessageSocket/pingInterval``.
    package func countPingsAnew() { frames.value.countControlFramesAnew() }

    /// Closes the connection with the closing handshake, after everything written before has been sent.
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

    /// Ends the network connection immediately.
    package func drop() { channel.triggerUserOutboundEvent(SocketCommand.drop, promise: nil) }

    /// The number of bytes written but not yet passed to the operating system.
    package var pendingByteCount: Int { (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }

    /// The number of bytes that the other side's operating system has acknowledged since the connection began, or nil
    /// if this system doesn't report it. It grows in small steps, unlike ``pendingByteCount``, which doesn't count
    /// megabytes in this system's own buffer. May be called from any thread.
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
