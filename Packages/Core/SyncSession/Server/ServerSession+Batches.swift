internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol

/// Reading batches, ending them, and what they acknowledge.
extension ServerSession {
    /// Starts reading the batch that brings the device to the wanted subscriptions. If `tick` is nil, reads everything.
    mutating func startReading(from tick: Tick?) -> Action {
        owesFirstBatch = false
        if let set = waitingSubscriptions {
            subscriptions = set
            waitingSubscriptions = nil
        }
        let from = needsEverything ? nil : tick
        needsEverything = false
        hasNewAuthority = false
        phase = .reading(Read(from: from, visibility: visibility))
        let new = visibility(of: subscriptions)
        let request = ReadRequest(
            client: client, from: from, old: from == nil ? .nothing : visibility, new: new,
            subscriptionVersion: subscriptions.version, rulesFingerprint: authority?.rulesFingerprint ?? 0,
            schemaFingerprint: schemaFingerprint, deviceColumns: sentColumns, mask: mask)
        visibility = new
        return .read(request)
    }

    mutating func finishReading(_ end: BatchEnd, _ tick: Tick) -> [Action] {
        guard end.acknowledged <= confirmed || uploading.isEmpty else {
            if case .reading(var read) = phase {
                read.held = (end, tick)
                phase = .reading(read)
            }
            return []
        }
        self.tick = tick
        sentTick = tick.number
        idleHeartbeats = 0
        unapplied += 1
        phase = .live
        heartbeats = 0
        progress = ClientProgress(last: end.acknowledged, refusals: end.refusals)
        var end = end
        (end.acknowledged, end.refusals) = acknowledge()
        var actions = [Action.send(.end(end))]
        guard !isHeld else { return actions }
        if waitingSubscriptions != nil || needsEverything || hasNewAuthority {
            actions.append(startReading(from: tick))
        } else {
            actions += followIfPossible()
        }
        return actions
    }

    mutating func subscribe(to set: SubscriptionSet) -> [Action] {
        do throws(SessionFailure) {
            guard authority?.partition == nil else { throw Self.noSubscriptions }
            try check(set)
        } catch {
            return fail(error)
        }
        guard set.version > subscriptions.version else { return [] }
        waitingSubscriptions = set
        if case .live = phase, !isHeld { return [startReading(from: tick)] }
        return []
    }

    var hasAcknowledgement: Bool { min(progress.last, confirmed) > acknowledged }

    /// What a batch at the current tick acknowledges; 0 if there is nothing new.
    mutating func acknowledge() -> (acknowledged: Int64, refusals: [RefusedWrite]) {
        guard hasAcknowledgement else { return (0, []) }
        let news = (acknowledged + 1)...min(progress.last, confirmed)
        var told: [RefusedWrite] = []
        var byteCount = 0
        var end = news.upperBound
        for refused in progress.refusals where news.contains(refused.number) {
            byteCount += refused.byteCount
            if byteCount > Self.maximumRefusalByteCount, let last = told.last?.number, refused.number > last {
                end = refused.number - 1
                break
            }
            told.append(refused)
        }
        acknowledged = end
        progress.refusals.removeAll { $0.number <= end }
        return (end, told)
    }

    /// Ends a batch. Adds batches without frames as long as there are refusals that didn't fit.
    mutating func ends(frameCount: Int, _ traceparents: [String] = []) -> [Action] {
        var actions = [Action.send(.end(end(frameCount: frameCount, traceparents)))]
        while hasAcknowledgement { actions.append(.send(.end(end(frameCount: 0)))) }
        return actions
    }

    mutating func end(frameCount: Int, _ traceparents: [String] = []) -> BatchEnd {
        sentTick = tick.number
        owesFirstBatch = false
        idleHeartbeats = 0
        unapplied += 1
        let news = acknowledge()
        return BatchEnd(
            position: Position(
                tick: tick.number, token: tick.token, subscriptionVersion: subscriptions.version,
                rulesFingerprint: authority?.rulesFingerprint ?? 0, schemaFingerprint: schemaFingerprint),
            serverTime: tick.time, acknowledged: news.acknowledged, refusals: news.refusals,
            frameCount: frameCount, traceparents: traceparents)
    }

    /// Moves an idle device's position forward, so that its base and clock stay current.
    mutating func heartbeat() -> [Action] {
        heartbeats = unapplied < Self.maximumUnappliedBatches ? 0 : heartbeats + 1
        guard heartbeats < Self.maximumUnappliedHeartbeats else {
            return fail(
                SessionFailure(
                    .unavailable,
                    "The device hasn't applied any of its \(unapplied) pending batches in "
                        + "\(Self.maximumUnappliedHeartbeats * Self.heartbeatSeconds / 60) minutes.",
                    isRetryable: true))
        }
        idleHeartbeats += 1
        let isBehind = tick.number > sentTick && idleHeartbeats >= Self.positionHeartbeats
        guard isBehind || hasAcknowledgement, isWritable, unapplied == 0 else { return [] }
        return ends(frameCount: 0)
    }
}
