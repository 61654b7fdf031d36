internal import Foundation
internal import Logging
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Client resets. A reset has these steps, each of which survives a kill:
/// 1. The server says that it doesn't know the device's history, or no longer knows it. The app decides what to do, and
///    the store records the reset.
/// 2. Everything is downloaded, while the class tables keep their content.
/// 3. The app is told that a reset is about to happen. In one transaction, the batch replaces everything, and unsynced
///    changes are replayed on top of it or dropped.
/// 4. The app is told that the reset has happened, and the store forgets it.
extension SyncEngine {
    /// What happens to pending changesets when the device starts over.
    public enum ResetDecision: Sendable {
        /// They're uploaded again.
        case recover
        /// They're dropped.
        case discard
        /// Nothing changes, and the engine stops.
        case stop
    }

    /// The app's callbacks for client resets. Called on the engine's thread.
    public struct ResetHandler: Sendable {
        /// Decides what happens if the device must start over, for this reason.
        public var decide: @Sendable (_ reason: String) -> ResetDecision
        /// Called right before the transaction. Called again if the transaction fails or the process is killed before
        /// it.
        public var willApply: @Sendable () -> Void
        /// Called after the transaction. If the process is killed meanwhile, called again after the next start.
        public var didApply: @Sendable () -> Void
        /// Decides what happens if the pending changesets can't be replayed.
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

    /// Handles a server that doesn't know this device's history.
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
            configuration.logger.error("Couldn't reset the device file: \("\(error)".sentence) Retrying.")
            events.append(.storeResetFailed)
        }
    }

    /// Handles a server that no longer knows this device's history and sends everything next.
    func noteReset(_ reason: String) {
        do {
            let store = try openStore()
            // If a reset has already begun, the connection was lost before its batch was complete.
            if let begun = try store.state().reset, begun != .applied { return }
            switch resets.decide(reason) {
            case .stop:
                // The batch may already have arrived together with the welcome.
                disconnect()
                events.append(.stop)
            case .recover:
                configuration.logger.notice("Starting over: \(reason)")
                try store.noteReset()
            case .discard:
                // Some of the dropped numbers may be in use on the server, so other changesets can't reuse them.
                disconnect()
                startOver(reason, discardsPending: true)
                events.append(.disconnected(random: 0))
            }
        } catch {
            configuration.logger.error("Couldn't reset the device file: \("\(error)".sentence) Retrying.")
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
        // A batch's time is that of its tick, which is old if little happens on the server.
        if let serverClock { end.serverTime = max(end.serverTime, serverClock.time(at: Self.steadyMicroseconds)) }
        let batch = try store.apply(end, frames: frames, wallMicroseconds: Date().microsecondsSince1970)
        if isReset { finishAppliedReset() }
        return batch
    }

    /// Tells the app of a reset that it may not have been told of, because it was killed after the transaction.
    func finishAppliedReset() {
        do {
            guard let store, try store.state().reset == .applied else { return }
            resets.didApply()
            // The app's block may have deleted the file.
            try self.store?.finishReset()
        } catch {
            configuration.logger.error("Couldn't record the end of a reset in the device file: \(error)")
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
