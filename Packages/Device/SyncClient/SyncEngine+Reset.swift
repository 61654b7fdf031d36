internal import Foundation
internal import Logging
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Client resets. One takes these steps, each of which survives a kill:
/// 1. The server says that it doesn't know the device's history, or no longer. The app decides, and the store notes it.
/// 2. Everything is downloaded, while the class tables keep what they have.
/// 3. The app hears that a reset is about to happen. In one transaction, the batch replaces everything, and unsynced
///    changes are replayed on it or dropped.
/// 4. The app hears that the reset has happened, and the store forgets it.
extension SyncEngine {
    /// What becomes of pending changesets when the device starts over.
    public enum ResetDecision: Sendable {
        /// They're uploaded again.
        case recover
        /// They're dropped.
        case discard
        /// Nothing happens, and the engine stops.
        case stop
    }

    /// What the app says to client resets. Called on the engine's thread.
    public struct ResetHandler: Sendable {
        /// The device must start over, for this reason.
        public var decide: @Sendable (_ reason: String) -> ResetDecision
        /// Right before the transaction. Called again if that fails, or if the process is killed before it.
        public var willApply: @Sendable () -> Void
        /// After the transaction. Called again, after the next start, if the process is killed meanwhile.
        public var didApply: @Sendable () -> Void
        /// The pending changesets can't be replayed.
        public var recoveryFailed: @Sendable (any Error) -> ResetDecision

        public init(
            decide: @escaping @Sendable (_ reason: String) -> ResetDecision = { _ in .recover },
            willApply: @escaping @Sendable () -> Void = {}, didApply: @escaping @Sendable () -> Void = {},
            recoveryFailed: @escaping @Sendable (any Error) -> ResetDecision = { _ in .stop }
        ) {
            self.decide = decide
            self.willApply = willApply
            self.didApply = didApply
            self.recoveryFailed = recoveryFailed
        }
    }

    /// The server doesn't know this device's history.
    func resetStore(_ reason: String) {
        switch resets.decide(reason) {
        case .stop: events.append(.stop)
        case .recover: startOver(reason, discardsPending: false)
        case .discard: startOver(reason, discardsPending: true)
        }
    }

    private func startOver(_ reason: String, discardsPending: Bool) {
        configuration.logger.notice("Starting over: \(reason)")
        do {
            var generator = SystemRandomNumberGenerator()
            try openStore().reset(client: .random(using: &generator), discardsPending: discardsPending)
            events.append(.storeReset)
        } catch {
            configuration.logger.error("The device file couldn't be reset: \("\(error)".sentence) Retrying.")
            events.append(.storeResetFailed)
        }
    }

    /// The server doesn't know this device's history any more, and sends everything next.
    func noteReset(_ reason: String) {
        do {
            let store = try openStore()
            // The connection was lost before the batch was complete.
            if let begun = try store.state().reset, begun != .applied { return }
            switch resets.decide(reason) {
            case .stop:
                // The batch may have come together with the welcome.
                disconnect()
                events.append(.stop)
            case .recover:
                configuration.logger.notice("Starting over: \(reason)")
                try store.noteReset()
            case .discard:
                // Some of the dropped numbers may be in use on the server, so others can't have them.
                disconnect()
                startOver(reason, discardsPending: true)
                events.append(.disconnected(random: 0))
            }
        } catch {
            configuration.logger.error("The device file couldn't be reset: \("\(error)".sentence) Retrying.")
            disconnect()
            events.append(.disconnected(random: 1))
        }
    }

    func apply(_ end: BatchEnd, _ frames: [BatchFrame]) throws -> AppliedBatch {
        let store = try openStore()
        var isReset = false
        if end.replacesAll, let reset = try store.state().reset {
            if reset == .applied { finishAppliedReset() } else { isReset = true }
        }
        if isReset { resets.willApply() }
        var end = end
        // The time of a batch is that of its tick, which is old where little happens.
        if let serverClock { end.serverTime = max(end.serverTime, serverClock.time(at: Self.steadyMicroseconds)) }
        let batch = try store.apply(end, frames: frames, wallMicroseconds: Date().microsecondsSince1970)
        if isReset { finishAppliedReset() }
        return batch
    }

    /// Tells the app of a reset that it may not have heard of, because it was killed after the transaction.
    func finishAppliedReset() {
        do {
            guard let store, try store.state().reset == .applied else { return }
            resets.didApply()
            // The app may have deleted the file in its block.
            try self.store?.finishReset()
        } catch {
            configuration.logger.error("The device file couldn't note the end of a reset: \(error)")
        }
    }

    func failRecovery(_ error: RecoveryFailed) {
        configuration.logger.error("\(error)")
        guard resets.recoveryFailed(error.cause) == .discard else {
            events.append(.stop)
            return
        }
        startOver("\(error)", discardsPending: true)
        events.append(.applyFailed)
    }
}
