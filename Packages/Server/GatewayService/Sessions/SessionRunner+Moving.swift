internal import NIOCore
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// A session whose model changed moves to another generation.
extension SessionRunner {
    static let moveRetryInterval = Duration.milliseconds(250)

    /// What generations call.
    var moving: @Sendable () async -> Void { { [weak self] in await self?.hold() } }

    /// The classes that the session is served with can't be served by the newest rules, or not under their names.
    private func hold() {
        guard didOpen else {
            return handle(
                .failed(
                    SessionFailure(
                        .unavailable, "The server's model changed while the session was opened.", isRetryable: true)))
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
                // Its new generation was left behind meanwhile.
                if holdCount != known { hold() }
                return
            }
            guard began.duration(to: .now) < services.limits.moveTimeLimit else {
                return handle(
                    .failed(
                        SessionFailure(
                            .unavailable, "The server's model changed, and the gateway can't serve the new one yet.",
                            isRetryable: true)))
            }
            try? await Task.sleep(for: Self.moveRetryInterval)
        }
    }

    /// - Returns: false if it is worth trying again.
    private func move(to next: Generations.Seat, from last: Generations.Seat, _ before: Authority) async -> Bool {
        let asked = ContinuousClock.now
        do {
            let generation = next.generation
            let tick = await generation.feed.newestNumber
            let known = try await narrow(
                try await generation.authorize(before.accessToken), to: before.partition, in: generation)
            // The connection may have ended meanwhile; another message of the device never comes.
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
