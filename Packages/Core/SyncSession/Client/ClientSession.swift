public import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol

/// A device's side of synchronisation: events in, actions out. No I/O, no clock, no randomness.
///
/// Phases and their transitions:
/// - `stopped` → `connecting` by start.
/// - `connecting` → `opening` when connected.
/// - `opening` (hello sent) → `bootstrapping` by welcome.
/// - `bootstrapping` → `live` by the first batch. Before that, only changesets that the server already has under the
///   device's client id are uploaded: the server acknowledges none that the device hasn't shown to be its own.
/// - `opening`, `bootstrapping`, `live` → `resetting` by reset.
/// - `connecting`, `opening`, `bootstrapping`, `live` → `waiting` when the connection fails or is lost, or when a batch
///   can't be applied.
/// - `resetting` → `waiting`, to connect under the new client id.
/// - `waiting` → `connecting` after the backoff, or at once by start.
/// - any → `failed` by a failure that connecting again can't fix; left by start. Other failures lead to `waiting`.
/// - any → `stopped` by stop.
///
/// The session calls the store through actions. The executor performs actions in order. Each store action is answered
/// by one event before the next store action is performed.
///
/// A device that is behind joins the batches that have arrived together and applies them in one transaction; see
/// ``ReceivedBatch``.
public struct ClientSession: Sendable {
    public enum Event: Sendable {
        case start
        case stop
        /// The connection is open. Carries the store's state and the user's access token.
        case connected(DeviceState, accessToken: String)
        /// Connecting failed, or the connection was lost. `random`, from 0 up to 1, gives the backoff its jitter.
        case disconnected(random: Double)
        /// The backoff is over.
        case retry
        /// Messages from the gateway, in order. Pass all that have arrived at once, because batches that arrive
        /// together are applied together.
        case messages([ServerMessage])
        /// A local write transaction queued a changeset.
        case changesetQueued
        /// The app wants other subscriptions.
        case subscriptionsChanged(SubscriptionSet)
        /// The answer to ``Action/loadPending(after:maximumCount:maximumByteCount:)``.
        case pending([Changeset])
        /// The answer to ``Action/apply(_:frames:)``.
        case applied(AppliedBatch)
        /// The store couldn't apply the batch. The session connects again and gets it once more.
        case applyFailed
        /// The answer to ``Action/resetStore(reason:)``.
        case storeReset
        /// The store couldn't start over. The server asks for it again when the session next opens.
        case storeResetFailed
    }

    public enum Action: Sendable {
        /// Connect, then answer with ``Event/connected(_:accessToken:)`` or ``Event/disconnected(random:)``.
        case connect
        /// Close the connection if there is one. No event follows.
        case disconnect
        /// Answer with ``Event/retry`` after this time.
        case wait(Duration)
        case send(ClientMessage)
        case stage(BatchFrame)
        /// Apply a batch, given its last frames, which weren't staged.
        case apply(BatchEnd, frames: [BatchFrame])
        case loadPending(after: Int64, maximumCount: Int, maximumByteCount: Int)
        case resetStore(reason: String)
        /// The next batch is a client reset: the store notes it, and the app decides what to do. No event answers; the
        /// executor sends ``Event/stop`` if the app wants the file left alone.
        case noteReset(reason: String)
        /// The server doesn't accept this version of the subscriptions. No event answers.
        case refuseSubscriptions(version: Int64, reason: String)
        case report(Report)
    }

    /// What the app may want to know.
    public enum Report: Sendable {
        case connection(ConnectionState)
        /// The objects of the current batch: those received and the total, which is an estimate while the server counts.
        case download(received: Int, total: Int)
        /// The device's content now reflects this version of the subscription set.
        case subscriptionsComplete(version: Int64)
        /// The gateway refused a subscription set. The device keeps the previous one.
        case subscriptionsRefused(version: Int64, SessionFailure)
        /// The gateway refused the whole session, or the subscription set that the content was made with.
        case failure(SessionFailure)
        /// Writes that the server didn't accept. The device shows the server's values again.
        case refused([RefusedWrite])
        /// The device knows the outcome of every changeset up to this number.
        case acknowledged(Int64)
        /// The device starts over, perhaps under a new client id with new numbers for its unsent changesets.
        case reset(reason: String)
    }

    public enum ConnectionState: String, Sendable {
        case disconnected
        case connecting
        case connected
    }

    /// The maximum number of resets in a row between which the device received nothing but the batches that completed
    /// them. A server that asks for one more is faulty, and the device would download everything again and again.
    public static let maximumResetsInARow = 8
    /// The maximum number of changesets in flight, whose outcome isn't known yet.
    public static let uploadWindow: Int64 = 1_000
    /// The maximum number of changesets and bytes in one upload message.
    public static let maximumChangesetsPerMessage = 100
    public static let maximumBytesPerMessage = 1 << 20

    private enum Phase: Hashable {
        case stopped
        case connecting
        case opening
        case bootstrapping
        case live
        case resetting
        case waiting
        case failed
    }

    /// The size in bytes up to which a batch's frames are kept in memory until it ends. The first frames of a larger
    /// batch are staged.
    public static let maximumUnstagedByteCount = 8 << 20

    private let schema: Schema
    private let maximumUnstagedByteCount: Int
    private var phase = Phase.stopped
    private var backoff = Backoff()
    private var acknowledged: Int64 = 0
    /// The highest changeset number that was sent on this connection or that the server is known to have.
    private var sent: Int64 = 0
    private var isLoading = false
    private var hasQueued = false
    /// While bootstrapping: the last changeset to show to the server again.
    private var verifyThrough: Int64?
    private var isApplying = false
    /// Messages that arrived while a batch was being applied, oldest first. Bounded by
    /// ``ServerSession/maximumUnappliedBatches`` batches, beyond which the gateway doesn't send.
    private var waitingMessages: [ServerMessage] = []
    /// The batch whose end hasn't arrived yet.
    private var incoming = ReceivedBatch()
    /// The batch whose end has arrived. It's applied once no other received message can join it.
    private var complete: (batch: ReceivedBatch, end: BatchEnd)?
    /// The ticks of the batches joined in ``complete``, and later of those being applied.
    private var ticks: [Int64] = []
    private var sentSubscriptions: Int64 = 0
    /// The version of the subscriptions that the content was made with.
    private var activeSubscriptions: Int64 = 0
    private var wantedSubscriptions: SubscriptionSet?
    private var resetsInARow = 0

    /// The partition whose objects the device has, or nil for a device with subscriptions.
    private let partition: Value?

    public init(
        schema: Schema, partition: Value? = nil,
        maximumUnstagedByteCount: Int = ClientSession.maximumUnstagedByteCount
    ) {
        self.schema = schema
        self.maximumUnstagedByteCount = maximumUnstagedByteCount
        self.partition = partition
    }

    private static let expired =
        "The server no longer knows what has changed since this device was last connected."

    public var isLive: Bool { phase == .live }

    public mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .start:
            guard phase == .stopped || phase == .failed || phase == .waiting else { return [] }
            if phase == .failed { resetsInARow = 0 }
            return connect()
        case .stop:
            guard phase != .stopped else { return [] }
            clearConnection()
            phase = .stopped
            return [.disconnect, .report(.connection(.disconnected))]
        case .connected(let state, let accessToken):
            guard phase == .connecting else { return [] }
            return open(state, accessToken)
        case .disconnected(let random):
            switch phase {
            case .connecting, .opening, .bootstrapping, .live: return waitToReconnect(random)
            case .stopped, .resetting, .waiting, .failed: return []
            }
        case .retry:
            guard phase == .waiting else { return [] }
            return connect()
        case .messages(let messages):
            waitingMessages += messages
            return takeMessages()
        case .changesetQueued:
            hasQueued = true
            return loadIfPossible()
        case .subscriptionsChanged(let set):
            wantedSubscriptions = set
            return sendSubscriptions()
        case .pending(let changesets): return upload(changesets)
        case .applied(let batch): return finishApplying(batch)
        case .applyFailed:
            guard isApplying else { return [] }
            return [.disconnect] + waitToReconnect(0)
        case .storeReset, .storeResetFailed:
            guard phase == .resetting else { return [] }
            return waitToReconnect(0)
        }
    }

    // MARK: Connecting

    private mutating func connect() -> [Action] {
        phase = .connecting
        return [.report(.connection(.connecting)), .connect]
    }

    private mutating func open(_ state: DeviceState, _ accessToken: String) -> [Action] {
        phase = .opening
        acknowledged = state.acknowledged
        sent = state.acknowledged
        hasQueued = state.lastChangeset > state.acknowledged
        sentSubscriptions = state.wanted.version
        activeSubscriptions = state.position.subscriptionVersion
        if let wanted = wantedSubscriptions, wanted.version <= state.wanted.version { wantedSubscriptions = nil }
        return [
            .send(
                .hello(
                    Hello(
                        protocolVersion: partition == nil ? ProtocolVersion.withoutPartitions : ProtocolVersion.current,
                        accessToken: accessToken, client: state.client, position: state.position,
                        activeSubscriptions: state.active, wantedSubscriptions: state.wanted,
                        acknowledged: state.acknowledged, classes: HelloClass.describe(schema),
                        partition: partition)))
        ]
    }

    private mutating func waitToReconnect(_ random: Double) -> [Action] {
        clearConnection()
        phase = .waiting
        return [.report(.connection(.disconnected)), .wait(backoff.next(random: random))]
    }

    private mutating func clearConnection() {
        isLoading = false
        verifyThrough = nil
        isApplying = false
        waitingMessages = []
        incoming = ReceivedBatch()
        complete = nil
        ticks = []
    }

    // MARK: Receiving

    /// Handles the waiting messages up to a batch that must be applied first.
    private mutating func takeMessages() -> [Action] {
        var actions: [Action] = []
        var taken = 0
        while !isApplying, taken < waitingMessages.count {
            let message = waitingMessages[taken]
            if let complete, !mayJoin(message, complete.end) {
                actions += applyComplete()
            } else {
                taken += 1
                actions += receive(message)
                // A message that ended the connection also discarded the waiting messages.
                if waitingMessages.isEmpty { return actions }
            }
        }
        waitingMessages.removeFirst(taken)
        return isApplying ? actions : actions + applyComplete()
    }

    /// Whether a message belongs to a batch that may be applied together with the complete one.
    private func mayJoin(_ message: ServerMessage, _ end: BatchEnd) -> Bool {
        guard phase == .live, !end.replacesAll, let complete, complete.batch.isInMemory(upTo: end) else { return false }
        switch message {
        case .frame(let frame):
            let kept = frame.sequence == 0 ? 0 : incoming.byteCount
            return incoming.stagedCount == 0
                && complete.batch.byteCount + kept + frame.byteCount <= maximumUnstagedByteCount
        case .end(let next):
            return !next.replacesAll && next.position.subscriptionVersion == end.position.subscriptionVersion
                && (next.frameCount == 0 || incoming.isInMemory(upTo: next))
        case .welcome, .reset, .failure: return false
        }
    }

    private mutating func applyComplete() -> [Action] {
        guard let (batch, end) = complete else { return [] }
        complete = nil
        isApplying = true
        return [.apply(end, frames: batch.frames)]
    }

    private mutating func receive(_ message: ServerMessage) -> [Action] {
        switch (phase, message) {
        case (_, .failure(let failure)): return fail(failure)
        case (.opening, .welcome(let welcome)):
            phase = .bootstrapping
            var actions: [Action] = [.report(.connection(.connected))]
            if welcome.isExpired {
                actions += [.report(.reset(reason: Self.expired)), .noteReset(reason: Self.expired)]
            }
            guard welcome.lastChangeset > acknowledged else { return actions }
            verifyThrough = welcome.lastChangeset
            return actions + [loadToVerify(welcome.lastChangeset)]
        case (.opening, .reset(let reason)), (.bootstrapping, .reset(let reason)), (.live, .reset(let reason)):
            resetsInARow += 1
            guard resetsInARow <= Self.maximumResetsInARow else {
                return fail(
                    SessionFailure(
                        .unavailable,
                        "The server told this device \(resetsInARow) times in a row to start over. Last reason: "
                            + "\(reason) Check the gateway's log and resume the session once it's fixed."))
            }
            clearConnection()
            phase = .resetting
            return [.disconnect, .report(.reset(reason: reason)), .resetStore(reason: reason)]
        case (.bootstrapping, .frame(let frame)), (.live, .frame(let frame)): return receive(frame)
        case (.bootstrapping, .end(let end)), (.live, .end(let end)):
            receive(end)
            return []
        default: return []
        }
    }

    private mutating func receive(_ frame: BatchFrame) -> [Action] {
        // Sequence 0 begins a batch, or restarts one.
        if frame.sequence == 0 { incoming = ReceivedBatch() }
        incoming.append(frame)
        var actions: [Action] = []
        while let oldest = incoming.takeOldest(beyond: maximumUnstagedByteCount) { actions.append(.stage(oldest)) }
        actions.append(.report(.download(received: frame.objectsSoFar, total: frame.totalObjects)))
        return actions
    }

    private mutating func receive(_ end: BatchEnd) {
        // If a restarted batch has no frames, those of its first attempt are dropped.
        let batch = end.frameCount > 0 ? incoming : ReceivedBatch()
        incoming = ReceivedBatch()
        ticks.append(end.position.tick)
        guard var (whole, joined) = complete else {
            complete = (batch, end)
            return
        }
        complete = nil
        whole.join(batch)
        joined.join(end)
        complete = (whole, joined)
    }

    private mutating func finishApplying(_ batch: AppliedBatch) -> [Action] {
        guard isApplying else {
            // The connection was lost meanwhile, but the refusals are reported only once, so they must be reported now.
            return batch.refusals.isEmpty ? [] : [.report(.refused(batch.refusals))]
        }
        isApplying = false
        var actions: [Action] = ticks.map { .send(.applied(tick: $0)) }
        ticks = []
        if phase == .bootstrapping {
            phase = .live
            backoff.reset()
        } else {
            resetsInARow = 0
        }
        // Refusals are reported first, so that code waiting for an upload to end knows how it ended.
        if !batch.refusals.isEmpty { actions.append(.report(.refused(batch.refusals))) }
        if batch.acknowledged > acknowledged {
            acknowledged = batch.acknowledged
            sent = max(sent, acknowledged)
            actions.append(.report(.acknowledged(acknowledged)))
        }
        if batch.isEverything {
            // Pending changesets are now based on the new tick, so those sent with another base are sent again.
            sent = acknowledged
            hasQueued = true
        }
        activeSubscriptions = batch.position.subscriptionVersion
        actions.append(.report(.subscriptionsComplete(version: activeSubscriptions)))
        actions += sendSubscriptions() + loadIfPossible()
        return actions + takeMessages()
    }

    private mutating func fail(_ failure: SessionFailure) -> [Action] {
        clearConnection()
        if failure.isRetryable { return [.disconnect, .report(.failure(failure))] + waitToReconnect(1) }
        if failure.code == .badSubscription, sentSubscriptions > activeSubscriptions {
            let version = sentSubscriptions
            if let wanted = wantedSubscriptions, wanted.version <= version { wantedSubscriptions = nil }
            return [
                .disconnect, .refuseSubscriptions(version: version, reason: failure.message),
                .report(.subscriptionsRefused(version: version, failure)),
            ] + waitToReconnect(0)
        }
        phase = .failed
        return [.disconnect, .report(.failure(failure)), .report(.connection(.disconnected))]
    }

    // MARK: Sending

    private mutating func sendSubscriptions() -> [Action] {
        guard phase == .bootstrapping || phase == .live, let set = wantedSubscriptions, set.version > sentSubscriptions
        else { return [] }
        wantedSubscriptions = nil
        sentSubscriptions = set.version
        return [.send(.subscribe(set))]
    }

    private mutating func loadIfPossible() -> [Action] {
        guard phase == .live, hasQueued, !isLoading, sent - acknowledged < Self.uploadWindow else { return [] }
        isLoading = true
        hasQueued = false
        return [
            .loadPending(
                after: sent, maximumCount: Self.maximumChangesetsPerMessage,
                maximumByteCount: Self.maximumBytesPerMessage)
        ]
    }

    private mutating func loadToVerify(_ through: Int64) -> Action {
        isLoading = true
        return .loadPending(
            after: sent, maximumCount: Int(min(through - sent, Int64(Self.maximumChangesetsPerMessage))),
            maximumByteCount: Self.maximumBytesPerMessage)
    }

    /// Shows the server the changesets that it already has from this device. An empty upload says that the device's
    /// queue ends earlier.
    private mutating func verify(_ changesets: [Changeset], through: Int64) -> [Action] {
        guard let last = changesets.last, changesets.first?.number == sent + 1, last.number <= through else {
            verifyThrough = nil
            return [.send(.upload([]))]
        }
        sent = last.number
        guard sent < through else {
            verifyThrough = nil
            return [.send(.upload(changesets))]
        }
        return [.send(.upload(changesets)), loadToVerify(through)]
    }

    private mutating func upload(_ changesets: [Changeset]) -> [Action] {
        guard isLoading else { return [] }
        isLoading = false
        if let through = verifyThrough { return verify(changesets, through: through) }
        // Changesets that a full batch has rebased meanwhile are loaded again.
        let fresh = changesets.filter { $0.number > sent }
        guard phase == .live, let last = fresh.last, fresh.first?.number == sent + 1 else {
            return hasQueued ? loadIfPossible() : []
        }
        sent = last.number
        hasQueued = true
        return [.send(.upload(fresh))] + loadIfPossible()
    }
}
