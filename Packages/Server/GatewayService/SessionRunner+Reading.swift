internal import Logging
internal import PostgresClient
internal import TomboloPostgresStore
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Reading batches.
extension SessionRunner {
    private enum Outcome {
        /// The session knows how the read ended.
        case told
        /// The read was cancelled: the session has ended, or the slot is needed for another device.
        case cancelled
    }

    /// A device that has not taken what it was sent before gets no slot.
    func read(_ request: ReadRequest) async {
        await waitForRoom()
        guard !session.isClosed, !Task.isCancelled, let user = authority?.user else { return }
        let outcome = try? await services.reads.run(
            user: user,
            progress: {
                ReadProgress(
                    isWaitingForDevice: await self.isReadWaitingForDevice, takenByteCount: await self.takenByteCount())
            }, { await self.runRead(request) })
        guard outcome == .cancelled, !session.isClosed, !Task.isCancelled else { return }
        isReading = false
        logger.debug("A read was given up for another device's, because its own device takes nothing.")
        handle(.readGivenUp)
    }

    private func runRead(_ request: ReadRequest) async -> Outcome {
        do {
            guard let store else { return .told }
            let schema = store.schema
            let (end, tick) = try await store.withReader { reader in
                do {
                    let end = try await BatchReader.read(request, from: reader, schema: schema) { frame in
                        try await self.handleWithRoom(.frame(frame))
                    }
                    return (end, reader.tick)
                } catch let error as PostgresError where !error.isRetryable && !error.isMissingName && !Task.isCancelled
                {
                    throw UnmendableReadError(cause: error)
                } catch let error as PostgresStoreError where !error.isRetryable && !Task.isCancelled {
                    throw UnmendableReadError(cause: error)
                }
            }
            try Task.checkCancellation()
            isReading = false
            handle(.readFinished(end, tick))
        } catch let error as PostgresStoreError where error.code == .renamed && !Task.isCancelled {
            logger.debug("A batch is read again: \(error)")
            isReading = false
            handle(.readGivenUp)
        } catch {
            guard !Task.isCancelled, !(error is CancellationError) else { return .cancelled }
            fail(reading: error)
        }
        return .told
    }

    private func fail(reading error: any Error) {
        var error = error
        if let missing = error as? PostgresError, missing.isMissingName { error = UnmendableReadError(cause: missing) }
        switch error {
        case let error as UnmendableReadError:
            logger.error("The session ends: its batch cannot be read: \(error.cause)")
            handle(
                .failed(
                    SessionFailure(
                        .unavailable,
                        "The gateway's database refused to read what the device asked for, and would do so again. "
                            + "The gateway's log says why; connecting again does not help before that is mended.")))
        case let error as PostgresError where error.code == .queryCanceled:
            logger.error("The session ends: the database took too long to read its batch: \(error)")
            handle(
                .failed(
                    SessionFailure(
                        .unavailable,
                        "The gateway's database took longer than \(PostgresServerStore.readStatementTimeout) to find what "
                            + "the device asked for. Subscribe to less, or add an index.", isRetryable: true)))
        default: fail(error, doing: "reading a batch")
        }
    }

    /// Waits until the device has taken most of what was sent, then handles the event: the back-pressure of reads.
    /// - Throws: `CancellationError` when nothing is sent any more.
    private func handleWithRoom(_ event: ServerSession.Event) async throws {
        isReadWaitingForDevice = true
        await waitForRoom()
        isReadWaitingForDevice = false
        try Task.checkCancellation()
        guard !session.isClosed else { throw CancellationError() }
        handle(event)
    }
}
