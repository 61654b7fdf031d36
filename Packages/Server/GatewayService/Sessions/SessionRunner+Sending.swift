internal import NIOCore
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloWebSocket

/// Sends messages to the device. They are collected, and flushed once the event loop has done its current work.
extension SessionRunner {
    func send(_ message: ServerMessage) {
        // Nothing can follow the session's final message.
        guard !isEnding else { return }
        switch message {
        case .failure, .reset:
            services.metrics.ended(with: message)
            dropSpool()
        default: break
        }
        let bytes = codec.encode(message)
        guard bytes.count <= MessageCodec.maximumMessageByteCount else { return fail(oversized: []) }
        write(ByteBuffer(bytes: bytes))
    }

    func send(_ frames: SharedFrames, _ messages: [ByteBuffer]) {
        guard !isEnding else { return }
        if let oversized = frames.oversized { return fail(oversized: oversized) }
        for message in messages { write(message) }
    }

    /// Frames are cut by size, so only a single row can exceed a message. The device would reconnect for that row
    /// forever.
    func fail(oversized classes: Set<String>) {
        handle(
            .failed(
                SessionFailure(
                    .tooLarge,
                    "An object of \(classes.sorted().joined(separator: ", ")) doesn't fit in a message of at most "
                        + "\(MessageCodec.maximumMessageByteCount) bytes. Make it smaller on the server, or subscribe to less."
                )))
    }

    func write(_ message: ByteBuffer) {
        if spool != nil {
            afterSpool.append(message)
        } else {
            count(message)
            socket.write(message)
            needsFlush = true
        }
    }

    func count(_ message: ByteBuffer) {
        writtenByteCount += message.readableBytes
        services.metrics.sent(byteCount: message.readableBytes)
    }

    func flush() {
        guard needsFlush else { return }
        needsFlush = false
        socket.flush()
    }

    /// Sends the session's final messages and closes the connection.
    func end() {
        guard !isEnding else { return }
        isEnding = true
        flush()
        cancelWork()
        socket.close(.normal)
    }

    /// Cancels work in progress that nobody waits for any more. Uploads that were accepted continue. Those that still
    /// wait give way to the same ones from a later session of the device.
    func cancelWork() {
        authenticating?.cancel()
        opening?.cancel()
        taking?.cancel()
        checking?.cancel()
        reading?.cancel()
        uploading?.cancel()
    }

    /// Tells the session whether the device takes data. It doesn't until it has taken the batch that was read for it.
    func noteWritability() {
        let isFull = spool != nil || !socket.isWritable
        guard isFull != isCongested else { return }
        isCongested = isFull
        handle(.writable(!isFull))
    }
}
