internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol

/// Ticks that the feed announces.
extension ServerSession {
    var canTakeBatch: Bool {
        guard case .live = phase else { return false }
        return !isHeld && !isHolding && isWritable && unapplied < Self.maximumUnappliedBatches
    }

    mutating func followIfPossible() -> [Action] {
        guard following == .no, canTakeBatch else { return [] }
        followCount += 1
        following = .asked(followCount)
        return [.follow(followCount, after: tick.number, liveView)]
    }

    /// Takes the batches for the ticks after the session's current tick.
    /// - Parameter isStaying: whether the session will be told of ticks after `last`.
    mutating func catchUp(_ batches: [LiveBatch], to last: Tick, staying isStaying: Bool) -> [Action] {
        guard let number = following.number else { return [] }
        var actions: [Action] = []
        for batch in batches {
            guard let taken = take(batch) else {
                following = .no
                return (isStaying ? [.unfollow(number)] : []) + actions
            }
            actions += taken
        }
        if last.number > tick.number { tick = last }
        following = isStaying ? .yes(number) : .no
        if owesFirstBatch { actions += ends(frameCount: 0) }
        return actions + followIfPossible()
    }

    mutating func look(at batch: LiveBatch) -> [Action] {
        if let actions = take(batch) { return actions }
        guard let number = following.number else { return [] }
        following = .no
        return [.unfollow(number)]
    }

    /// Takes a batch for a tick.
    /// - Returns: nil if the session can't take the batch now. It then stays at its current tick.
    mutating func take(_ batch: LiveBatch) -> [Action]? {
        guard batch.tick.number > tick.number else { return [] }
        guard canTakeBatch else { return nil }
        if let news = batch.progress, news.last > confirmed, !uploading.isEmpty {
            isHolding = true
            return nil
        }
        tick = batch.tick
        if let news = batch.progress {
            progress.last = news.last
            progress.refusals += news.refusals
        }
        guard batch.frames != nil || hasAcknowledgement else { return [] }
        guard let frames = batch.frames else { return ends(frameCount: 0, batch.traceparents) }
        return [.sendFrames(frames)] + ends(frameCount: frames.messages.count, batch.traceparents)
    }
}
