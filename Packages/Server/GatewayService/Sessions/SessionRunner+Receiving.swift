internal import NIOCore
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloWebSocket

/// Handles the device's messages in order: short ones immediately, long ones in turn with those of other users.
extension SessionRunner {
    func take(_ message: ByteBuffer) {
        services.metrics.received(byteCount: message.readableBytes)
        // Messages that arrive while the session ends are ignored.
        guard !session.isClosed else { return }
        guard didOpen || message.readableBytes <= MessageCodec.maximumControlByteCount else {
            return handle(
                .failed(
                    SessionFailure(
                        .tooLarge,
                        "Until its session is open, a device may send messages of at most "
                            + "\(MessageCodec.maximumControlByteCount) bytes.")))
        }
        inbox.append(message)
        takeNext()
    }

    /// Handles queued messages, one at a time and in order, for as long as the session can.
    func takeNext() {
        // Handling a message calls this again; the loop below continues with the next one.
        guard !isTakingNext else { return }
        isTakingNext = true
        defer { isTakingNext = false }
        while taking == nil, !inbox.isEmpty, !session.isUploadBacklogged, !session.awaitsMove {
            let message = inbox.removeFirst()
            guard !session.isClosed else { continue }
            let bytes = Array(message.readableBytesView)
            if didOpen, bytes.count <= Self.maximumQuickByteCount, !MessageCodec.isUpload(bytes) {
                handle(decoded(bytes, with: codec))
            } else {
                taking = Task {
                    await self.takeSlowly(bytes)
                    self.taking = nil
                    self.takeNext()
                }
            }
        }
        if taking == nil, inbox.isEmpty { socket.resume() } else { socket.pause() }
    }

    nonisolated func decoded(_ bytes: [UInt8], with codec: MessageCodec) -> ServerSession.Event {
        do throws(ProtocolError) {
            return .message(try codec.decodeClientMessage(bytes))
        } catch {
            return .failed(error.failure)
        }
    }

    /// Decodes a long message off the event loop, when it's the user's turn. Uploads have their own limits. Of other
    /// messages, a user's devices can send as many as ``UserPace`` allows.
    /// - Returns: nil if the session ended before.
    func decodedInTurn(_ bytes: [UInt8]) async -> ServerSession.Event? {
        let peer = sender
        let codec = codec
        if MessageCodec.isUpload(bytes) {
            return try? await services.heavyWork.run(peer, progress: { .independent }) {
                self.decoded(bytes, with: codec)
            }
        }
        let decoded = try? await services.pace.run(peer.user) { [heavyWork = services.heavyWork] in
            let decoded = try? await heavyWork.run(peer, progress: { .independent }) {
                let began = ContinuousClock.now
                return (self.decoded(bytes, with: codec), took: began.duration(to: .now))
            }
            return (decoded?.0, took: decoded?.took ?? .zero)
        }
        return decoded ?? nil
    }

    func takeSlowly(_ bytes: [UInt8]) async {
        if !isAdmitted {
            admission = await admit(bytes)
            isAdmitted = admission != nil
            guard isAdmitted, !session.isClosed else { return }
        }
        // A decoded upload takes many times its size in memory, so it needs room in the budget first.
        let isUpload = MessageCodec.isUpload(bytes)
        if isUpload {
            guard (try? await services.uploadBudget.admit(bytes.count, of: sender)) != nil else { return }
        }
        let event = bytes.count <= Self.maximumQuickByteCount ? decoded(bytes, with: codec) : await decodedInTurn(bytes)
        // Not earlier: an upload that ended meanwhile would have released this one's room too.
        if isUpload { waitingUploadByteCount += bytes.count }
        guard let event, !session.isClosed else { return await releaseWaitingUploads() }
        if case .message(.hello(let hello)) = event, !(await take(hello)) { return }
        handle(event)
        await releaseDroppedUploads()
    }
}
