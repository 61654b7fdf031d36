internal import NIOCore
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Moves a session to another generation when its model has changed.
extension SessionRunner {
    static let moveRetryInterval = Duration.milliseconds(250)

    /// The function that generations call to move the session.
    var moving: @Sendable () async -> Void { { [weak self] in await self?.hold() } }

    /// Called when the newest rules can't serve the session's classes, or not under the same names.
    private func hold() {
        guard didOpen else {
            return handle(
                .failed(
                    SessionFailure(
                        .unavailable, "The server's model changed while the session was opening.", isRetryable: true)))
        }
        holdCount += 1
        for action in session.hold() { perform(action, sharing: nil) }
        settle()
    }

    func moveIfPossible() {
        guard session.canMove, !isMoving else { return }
        isMoving = true
        Task { await self.move() }
    }

    private func move() async {
        defer {
            isMoving = false
            settle()
        }
        let began = ContinuousClock.now
        while let seat, let before = authority, !session.isClosed {
            let known = holdCount
            if let next = await services.generations.follow(moving), await move(to: next, from: seat, before) {
                // The new generation was itself left behind meanwhile.
                if holdCount != known { hold() }
                return
            }
            guard began.duration(to: .now) < services.limits.moveTimeLimit else {
                return handle(
                    .failed(
                        SessionFailure(
                            .unavailable, "The server's model changed, and the gateway can't use the new one yet.",
                            isRetryable: true)))
            }
            try? await Task.sleep(for: Self.moveRetryInterval)
        }
    }

    /// - Returns: false if a retry makes sense.
    private func move(to next: Generations.Seat, from last: Generations.Seat, _ before: Authority) async -> Bool {
        let asked = ContinuousClock.now
        do {
            let generation = next.generation
            let tick = await generation.feed.newestNumber
            let known = try await narrow(
                try await generation.authorize(before.accessToken), to: before.partition, in: generation)
            // The connection may have ended meanwhile. Another message of the device can't arrive.
            guard session.canMove, seat?.generation === last.generation else { throw CancellationError() }
            seat = next
            authority = Authority(
                accessToken: before.accessToken, user: known.user, partition: before.partition,
                rulesFingerprint: known.rulesFingerprint, tick: tick, askedAt: asked)
            checking?.cancel()
            position = nil
            last.generation.feed.send(.leave(self, user: before.user))
            generation.feed.send(.enter(self, user: known.user))
            let actions = session.move(to: generation.store.schema, known)
            codec = MessageCodec(schema: generation.store.schema, names: session.deviceNames)
            for action in actions { perform(action, sharing: nil) }
            await services.generations.leave(last)
            return true
        } catch let failure as SessionFailure {
            await services.generations.leave(next)
            handle(.failed(failure))
            return true
        } catch {
            await services.generations.leave(next)
            return false
        }
    }
}
