internal import NIOCore
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloWebSocket

/// Sends spooled batches as fast as the device takes them.
extension SessionRunner {
    func begin(_ spool: Spool) {
        self.spool = spool
        noteWritability()
    }

    func dropSpool() {
        guard let spool else { return }
        self.spool = nil
        afterSpool = []
        Task { await spool.discard() }
    }

    /// Sends as much of the spooled batch as the device takes.
    func drain() {
        guard !isDraining, spool != nil, socket.isWritable else { return }
        isDraining = true
        Task { await self.drainSpool() }
    }

    func drainSpool() async {
        defer { isDraining = false }
        while let spool, socket.isWritable, !isEnding {
            let messages: [ByteBuffer]
            do {
                messages = try await spool.next()
            } catch {
                return fail(error, doing: "reading a batch back from disk")
            }
            guard self.spool === spool, !isEnding else { return }
            guard !messages.isEmpty else {
                if reading == nil { finishSpool() }
                return
            }
            for message in messages {
                count(message)
                socket.write(message)
            }
            socket.flush()
        }
    }

    /// The device has been sent the whole batch.
    func finishSpool() {
        dropSpoolKeepingRest()
        noteWritability()
        flush()
        if let request = waitingRead {
            waitingRead = nil
            read(request)
        }
    }

    func dropSpoolKeepingRest() {
        let rest = afterSpool
        dropSpool()
        for message in rest { write(message) }
    }
}
