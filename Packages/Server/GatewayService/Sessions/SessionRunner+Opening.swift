internal import Logging
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloPostgresStore
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloWebSocket

/// Everything from a device's first message to its open session.
extension SessionRunner {
    /// Finds out who says hello. Before that, the rest of the message isn't decoded, and nothing after it is read.
    /// - Returns: nil for a device that may not continue. The session has failed then.
    func admit(_ bytes: [UInt8]) async -> Admission? {
        let accessToken: String
        do throws(ProtocolError) {
            accessToken = try codec.opening(ofHello: bytes).accessToken
        } catch {
            handle(.failed(error.failure))
            return nil
        }
        return await authorize(accessToken)
    }

    private func authorize(_ accessToken: String) async -> Admission? {
        let asked = ContinuousClock.now
        do {
            let newest = try await services.generations.newest()
            let generation = seat?.generation ?? newest
            let tick = await generation.feed.newestNumber
            return Admission(
                accessToken: accessToken, authority: try await generation.authorize(accessToken),
                generation: generation, tick: tick, askedAt: asked)
        } catch let failure as SessionFailure {
            handle(.failed(failure))
        } catch {
            fail(error, doing: "checking the access token")
        }
        return nil
    }

    /// Finds the generation that serves the device.
    /// - Returns: false if the session has failed.
    func take(_ hello: Hello) async -> Bool {
        guard seat == nil else { return true }
        do {
            let seat = try await services.generations.enter(serving: hello.classes, move: moving)
            guard !session.isClosed else {
                await services.generations.leave(seat)
                return false
            }
            self.seat = seat
            partition = hello.partition
            codec = seat.generation.codec
            session.serve(seat.generation.store.schema)
            return true
        } catch let failure as SessionFailure {
            handle(.failed(failure))
        } catch {
            fail(error, doing: "finding the device's model")
        }
        return false
    }

    func authenticate(_ accessToken: String) async {
        var known = admission
        if known?.accessToken != accessToken || known?.generation !== seat?.generation {
            known = await authorize(accessToken)
        }
        guard let known else { return }
        do {
            let granted = try await narrow(known.authority, to: partition, in: known.generation)
            guard !session.isClosed, let feed = seat?.generation.feed else { return }
            authority = Authority(
                accessToken: accessToken, user: granted.user, partition: partition,
                rulesFingerprint: granted.rulesFingerprint, tick: known.tick, askedAt: known.askedAt)
            feed.send(.enter(self, user: granted.user))
            handle(.authenticated(granted))
        } catch let failure as SessionFailure {
            handle(.failed(failure))
        } catch {
            fail(error, doing: "looking up the user's permissions in the partition")
        }
    }

    /// What the user may see and do in the session's partition. Also stores what they may read there, as it is done
    /// outside of partitions.
    func narrow(
        _ authority: SessionAuthority, to partition: Value?, in generation: Generation
    ) async throws -> SessionAuthority {
        guard let partition else { return authority }
        guard let inPartition = authority.inPartition else {
            throw SessionFailure(.badSubscription, "This gateway has no partitions. Open the Realm with subscriptions.")
        }
        let narrowed = inPartition(partition)
        guard narrowed.hidden.isEmpty, narrowed.rulesFingerprint != self.authority?.rulesFingerprint else {
            return narrowed
        }
        let store = generation.store
        let readable = store.schema.classes.indices.map { ($0, narrowed.readable($0)) }
        try await store.keepReadable(
            Dictionary(uniqueKeysWithValues: readable), under: narrowed.rulesFingerprint)
        return narrowed
    }

    func open(_ client: ClientID, _ user: String, _ acknowledged: Int64, _ position: Position) async {
        do {
            guard let generation = seat?.generation else { return }
            let store = generation.store
            let opening = try await store.openClient(client, user: user, acknowledged: acknowledged)
            let check = try await check(position, in: store)
            var formerly: [Int: Predicate]?
            if case .valid = check, position.rulesFingerprint != authority?.rulesFingerprint {
                formerly = try await store.readable(under: position.rulesFingerprint)
            }
            guard !session.isClosed else { return }
            didOpen = true
            admission = nil
            socket.liftOpeningLimit()
            handle(.opened(opening, check, formerly: formerly))
        } catch let failure as SessionFailure {
            handle(.failed(failure))
        } catch {
            fail(error, doing: "opening the session")
        }
    }

    private func check(
        _ position: Position, in store: any ServerStore
    ) async throws -> ServerSession.PositionCheck {
        if position.tick == 0 { return .none }
        if let known = try await store.tick(position.tick) {
            return ServerSession.PositionCheck(position, known: known, latest: known)
        }
        return ServerSession.PositionCheck(position, known: nil, latest: try await store.latestTick())
    }
}
