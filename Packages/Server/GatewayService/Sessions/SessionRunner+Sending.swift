internal import NIOCore
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloWebSocket

/// Messages to the device, gathered until the event loop has done what it was woken for.
extension SessionRunner {
    func send(_ message: ServerMessage) {
        // After the session's last words nothing is of use.
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

    /// Frames are cut by size, so that only a single row can be beyond a message: the device would come back for it
    /// without end.
    func fail(oversized classes: Set<String>) {
        handle(
            .failed(
                SessionFailure(
                    .tooLarge,
                    "An object of \(classes.sorted().joined(separator: ", ")) is larger than a message, which has at most "
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

    /// Says what the session has to say last.
    func end() {
        guard !isEnding else { return }
        isEnding = true
        flush()
        cancelWork()
        socket.close(.normal)
    }

    /// Nobody waits any more for what is under way. Uploads go on: they were taken. Those that still wait give their place to
    /// the same ones from a later session of the device.
    func cancelWork() {
        authenticating?.cancel()
        opening?.cancel()
        taking?.cancel()
        checking?.cancel()
        reading?.cancel()
        uploading?.cancel()
    }

    /// The session's view of whether the device takes data: not before it has taken a batch that was read for it.
    func noteWritability() {
        let isFull = spool != nil || !socket.isWritable
        guard isFull != isCongested else { return }
        isCongested = isFull
        handle(.writable(!isFull))
    }
}
