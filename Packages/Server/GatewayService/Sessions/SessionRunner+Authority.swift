internal import Logging
internal import NIOCore
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// What the session's user may see and do, as time goes on.
extension SessionRunner {
    /// Looks up again what the user may see and do; a look-up that does not return is not waited for without end.
    func keepAuthority() {
        guard let authority, !session.isClosed else { return }
        guard authority.askedAt.duration(to: .now) < services.limits.authorityPatience else {
            return handle(
                .failed(
                    SessionFailure(
                        .unavailable,
                        "For \(services.limits.authorityPatience) the gateway could not find out what the user may do.",
                        isRetryable: true)))
        }
        // A move looks it up.
        guard checking == nil, !session.isHeld else { return }
        checking = Task { await self.check(authority) }
    }

    /// What the feed says of a tick that may change it. The feed tells the session of no tick until it asks again.
    func authorityMayHaveChanged() {
        // At once, since the session would take it that the ticks which it isn't told of don't concern it.
        if let number = session.followingNumber { handle(.followingPaused(number)) }
        guard authority != nil, !session.isClosed else { return }
        authorityNews += 1
        // News that comes while a look-up is under way is worth one more, however much it is.
        guard !isFollowingAuthority else { return }
        isFollowingAuthority = true
        Task { await self.followAuthority() }
    }

    private func followAuthority() async {
        var known = 0
        while known != authorityNews, !session.isClosed {
            known = authorityNews
            // One that began before the news doesn't count.
            if let checking { await checking.value }
            if checking == nil, !session.isHeld, let authority { checking = Task { await self.check(authority) } }
            await checking?.value
        }
        isFollowingAuthority = false
        mayFollowUnchecked = true
        handle(.followingResumed)
    }

    private func check(_ before: Authority) async {
        defer { checking = nil }
        guard let generation = seat?.generation else { return }
        let asked = ContinuousClock.now
        do {
            let tick = await generation.feed.newestNumber
            let known = try await narrow(
                try await generation.authorize(before.accessToken), to: before.partition, in: generation)
            guard seat?.generation === generation, !session.isHeld, !session.isClosed else { return }
            authority?.askedAt = asked
            authority?.tick = tick
            authority?.rulesFingerprint = known.rulesFingerprint
            if known.rulesFingerprint != before.rulesFingerprint { handle(.authorityChanged(known)) }
        } catch let failure as SessionFailure {
            handle(.failed(failure))
        } catch {
            logger.debug("What a user may do could not be looked up: \(error)")
        }
    }
}
