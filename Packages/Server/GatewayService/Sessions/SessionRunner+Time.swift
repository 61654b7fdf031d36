internal import NIOCore
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloWebSocket

/// Everything that happens because time passes.
extension SessionRunner {
    /// Called about every ``ServerSession/heartbeatSeconds``.
    func beat() {
        let now = NIODeadline.now()
        if taking != nil || !inbox.isEmpty { heardAt = now }
        guard now - heardAt < TimeAmount(services.limits.silenceLimit) else { return socket.drop() }
        if now - countedPingsAt >= TimeAmount(MessageSocket.pingInterval) {
            countedPingsAt = now
            socket.countPingsAnew()
        }
        watchProgress(now)
        if now >= nextAuthorityCheck {
            nextAuthorityCheck = now + TimeAmount(services.limits.authorityInterval * .random(in: 0.75...1.25))
            keepAuthority()
        }
        let written = writtenByteCount
        if didOpen || now - connectedAt >= TimeAmount(services.limits.openingGrace) { handle(.heartbeat) }
        // The device answers whatever the session sends with a heartbeat.
        guard writtenByteCount == written, now - heardAt >= TimeAmount(services.limits.pingDelay) else { return }
        if socket.isWritable { socket.ping() }
    }

    /// Ends a batch whose device takes nothing, even if the device is still alive, and a connection that doesn't even
    /// take the session's final message. Any other device that stalls costs only a bounded buffer, and may stay.
    func watchProgress(_ now: NIODeadline) {
        let limits = services.limits
        let pending = socket.pendingByteCount
        let taken = writtenByteCount - pending
        let isWaiting = pending > 0 && (spool != nil || isEnding)
        guard isWaiting, taken < stall.takenByteCount + limits.minimumProgressByteCount else {
            stall = Stall(takenByteCount: taken, since: now)
            return
        }
        guard now - stall.since >= TimeAmount(limits.writeStallLimit) else { return }
        guard !isEnding else { return socket.drop() }
        handle(
            .failed(
                SessionFailure(
                    .unavailable,
                    "The device took almost no data for \(limits.writeStallLimit) while a batch was waiting for it.",
                    isRetryable: true)))
        stall.since = now
    }

    /// Bytes that the device has taken so far.
    func takenByteCount() async -> Int {
        if let confirmed = try? await socket.confirmedByteCount() { return confirmed }
        return writtenByteCount - socket.pendingByteCount
    }
}
