internal import Logging
internal import PostgresClient
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloPostgresStore
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Reads batches from the database into a spool at the database's speed. The slot is free again after that, however
/// slowly the device takes the batch.
extension SessionRunner {
    /// How often to retry when a batch finds its spool full.
    static let spoolRetryInterval = Duration.milliseconds(50)

    fileprivate enum Outcome: Sendable {
        case finished(BatchEnd, Tick)
        case givenUp
        case failed(any Error)
    }

    /// A device that hasn't taken its previous batch gets no slot yet. A read in progress gives way to the new one.
    func read(_ request: ReadRequest) {
        readNumber += 1
        if let reading {
            reading.cancel()
            dropSpool()
        }
        guard spool == nil else {
            waitingRead = request
            return
        }
        let number = readNumber
        isReadWaitingForDevice = false
        reading = Task {
            await self.run(request, number)
            if self.readNumber == number { self.reading = nil }
            // This also starts a batch that waits until this one is taken.
            self.drain()
        }
    }

    private func run(_ request: ReadRequest, _ number: Int) async {
        guard !session.isClosed, let peer, let store = seat?.generation.store else { return }
        let (codec, spool) = (codec, Spool(budget: services.spools, peer: peer))
        let (kind, began) = (GatewayMetrics.ReadKind(request), ContinuousClock.now)
        services.metrics.began(kind)
        // A device's first batch is read as soon as there is a slot. But a device can ask for new subscriptions
        // endlessly.
        let isRepeated = readSubscriptionVersion.map { $0 != request.subscriptionVersion } ?? false
        let outcome: Outcome?
        if isRepeated {
            outcome =
                (try? await services.pace.run(peer.user) {
                    let (outcome, took) = await self.readInSlot(request, number, peer, store, codec, spool)
                    return (outcome, took: took)
                }) ?? nil
        } else {
            outcome = await readInSlot(request, number, peer, store, codec, spool).outcome
        }
        services.metrics.ended(kind, .init(outcome), took: began.duration(to: .now))
        guard !session.isClosed, readNumber == number else { return }
        switch outcome {
        case .finished(let end, let tick):
            readSubscriptionVersion = request.subscriptionVersion
            // Handling the end of the batch may start another read.
            reading = nil
            // The session may still see congestion from frames that gave way to this batch, which has none itself.
            noteWritability()
            handle(.readFinished(end, tick))
        case .givenUp, nil:
            reading = nil
            logger.debug("Gave the read's slot to another device: this one isn't taking data.")
            handle(.readGivenUp)
        case .failed(let error): fail(reading: error)
        }
    }

    /// - Returns: the outcome, or nil if the read gave way or the session ended, and how long it held its slot.
    private func readInSlot(
        _ request: ReadRequest, _ number: Int, _ peer: Peer, _ store: any ServerStore, _ codec: MessageCodec,
        _ spool: Spool
    ) async -> (outcome: Outcome?, took: Duration) {
        // The user doesn't have to pay for the pauses of a search.
        let isPaused = services.generations.users.areSeveral && request.isSearch
        let result = try? await services.reads.run(
            peer,
            progress: {
                ReadProgress(
                    isWaitingForDevice: await self.isReadWaitingForDevice, takenByteCount: await self.takenByteCount())
            }
        ) {
            let began = ContinuousClock.now
            let outcome = await self.collect(request, number, from: store, codec, into: spool)
            return (outcome, began.duration(to: .now) / (isPaused ? SearchPause.stretch : 1))
        }
        return (result?.0, result?.1 ?? .zero)
    }

    /// Runs off the event loop.
    @concurrent
    private nonisolated func collect(
        _ request: ReadRequest, _ number: Int, from store: any ServerStore, _ codec: MessageCodec, into spool: Spool
    ) async -> Outcome {
        do {
            let schema = store.schema
            let read: @Sendable (any TickReader) async throws -> (BatchEnd, Tick) = { reader in
                do {
                    let end = try await BatchReader.read(request, from: reader, schema: schema) { frame in
                        try await self.add(frame, of: number, codec, to: spool)
                    }
                    return (end, reader.tick)
                } catch let error as PostgresError where !error.isRetryable && !error.isMissingName && !Task.isCancelled
                {
                    throw UnmendableReadError(cause: error)
                } catch let error as PostgresStoreError where !error.isRetryable && !Task.isCancelled {
                    throw UnmendableReadError(cause: error)
                }
            }
            let (end, tick) =
                request.from == nil ? try await store.withBootstrapReader(read) : try await store.withReader(read)
            try Task.checkCancellation()
            return .finished(end, tick)
        } catch let error as PostgresStoreError where error.meansReadAgain && !Task.isCancelled {
            return .givenUp
        } catch {
            return Task.isCancelled || error is CancellationError ? .givenUp : .failed(error)
        }
    }

    /// Waits for room in the spool, which is the backpressure for very long batches.
    private nonisolated func add(
        _ frame: BatchFrame, of number: Int, _ codec: MessageCodec, to spool: Spool
    ) async throws {
        let message = codec.encode(.frame(frame))
        guard message.count <= MessageCodec.maximumMessageByteCount else {
            await fail(oversized: Set(frame.blocks.map { codec.schema[$0.classIndex].name }))
            throw CancellationError()
        }
        while !(try await spool.append(message)) {
            await waitForRoom(number)
            try await Task.sleep(for: Self.spoolRetryInterval)
        }
        await didAdd(to: spool, number)
        try Task.checkCancellation()
    }

    private func waitForRoom(_ number: Int) {
        guard readNumber == number else { return }
        isReadWaitingForDevice = true
        drain()
    }

    private func didAdd(to spool: Spool, _ number: Int) {
        guard !session.isClosed, readNumber == number else { return }
        isReadWaitingForDevice = false
        if self.spool == nil { begin(spool) }
        drain()
    }

    private func fail(reading error: any Error) {
        var error = error
        if let missing = error as? PostgresError, missing.isMissingName { error = UnmendableReadError(cause: missing) }
        switch error {
        case let error as UnmendableReadError:
            logger.error("Ending the session: its batch can't be read: \(error.cause)")
            handle(
                .failed(
                    SessionFailure(
                        .unavailable,
                        "The gateway's database refused to read what the device asked for, and would do so again. "
                            + "The gateway's log says why; reconnecting won't help until that is fixed.")))
        case let error as PostgresStoreError where error.code == .historyLost:
            logger.notice("Ending the session; its device's position will be looked up again: \(error)")
            handle(.failed(.historyLost))
        case let error as PostgresError where error.code == .queryCanceled:
            logger.error("Ending the session: the database took too long to read its batch: \(error)")
            handle(
                .failed(
                    SessionFailure(
                        .unavailable,
                        "The gateway's database took longer than \(PostgresServerStore.readStatementTimeout) to find what "
                            + "the device asked for. Subscribe to less, or add an index.", isRetryable: true)))
        default: fail(error, doing: "reading a batch")
        }
    }
}

extension ReadRequest {
    /// Whether a predicate searches text, which means examining every row.
    fileprivate var isSearch: Bool {
        [old, new].contains { $0.predicates.values.contains { $0.searchCount > 0 } }
    }
}

extension GatewayMetrics.ReadOutcome {
    fileprivate init(_ outcome: SessionRunner.Outcome?) {
        self =
            switch outcome {
            case .finished: .finished
            case .givenUp, nil: .givenUp
            case .failed: .failed
            }
    }
}
