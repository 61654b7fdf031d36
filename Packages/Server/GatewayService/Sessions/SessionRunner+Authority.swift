internal import Logging
internal import NIOCore
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Keeps what the session's user may see and do up to date.
extension SessionRunner {
    /// Looks up again what the user may see and do. Doesn't wait forever for a lookup that never returns.
    func keepAuthority() {
        guard let authority, !session.isClosed else { return }
        guard authority.askedAt.duration(to: .now) < services.limits.authorityPatience else {
            return handle(
                .failed(
                    SessionFailure(
                        .unavailable,
                        "The gateway couldn't look up the user's permissions for \(services.limits.authorityPatience).",
                        isRetryable: true)))
        }
        // Moving includes a lookup.
        guard checking == nil, !session.isHeld else { return }
        checking = Task { await self.check(authority) }
    }

    /// The feed read a tick that may change what the user may do. It tells the session about no further ticks until
    /// the session asks again.
    func authorityMayHaveChanged() {
        // Immediately, because the session would otherwise assume that the ticks that it isn't told about don't
        // concern it.
        if let number = session.followingNumber { handle(.followingPaused(number)) }
        guard authority != nil, !session.isClosed else { return }
        authorityNews += 1
        // However much news arrives during a lookup, it takes only one more lookup.
        guard !isFollowingAuthority else { return }
        isFollowingAuthority = true
        Task { await self.followAuthority() }
    }

    private func followAuthority() async {
        var known = 0
        while known != authorityNews, !session.isClosed {
            known = authorityNews
            // A lookup that began before the news doesn't count.
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
            logger.debug("Couldn't look up a user's permissions: \(error)")
        }
    }
}
