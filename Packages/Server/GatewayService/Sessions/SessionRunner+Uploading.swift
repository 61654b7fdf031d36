internal import Logging
internal import PostgresClient
internal import TomboloChangesets
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Handles uploads, and the session's part of the gateway's budget for them.
extension SessionRunner {
    /// - Parameter byteCount: what the changesets hold of the budget until their outcome is known, even if the
    ///   connection ends earlier, because they stay in memory that long.
    func upload(_ changesets: [Changeset], _ authority: SessionAuthority, holding byteCount: Int) async {
        let results = await results(of: changesets, authority)
        uploading = nil
        uploadingByteCount -= byteCount
        await services.uploadBudget.release(byteCount, of: peer(authority.user))
        guard let results else { return }
        handle(.uploaded(results))
        await releaseDroppedUploads()
    }

    /// - Returns: nil if the session has failed or ended.
    private func results(of changesets: [Changeset], _ authority: SessionAuthority) async -> [UploadResult]? {
        let client = session.clientID
        guard let generation = seat?.generation else { return nil }
        let schema = generation.store.schema
        let rights = authority.uploadRights(in: schema)
        let fingerprint = authority.rulesFingerprint
        let renewed = authority.renewed.map { renewed in
            { @Sendable (database: any UploadDatabase) async throws -> UploadRights? in
                guard let now = try await renewed(database), now.rulesFingerprint != fingerprint else { return nil }
                return now.uploadRights(in: schema)
            }
        }
        let address = address.isEmpty ? nil : address
        let received = generation.traces.receive(changesets, from: client)
        defer { received.end() }
        do {
            return try await generation.uploads.upload(
                received.changesets.map {
                    Upload(client: client, changeset: $0, rights: rights, renewed: renewed, address: address)
                }, of: peer(authority.user))
        } catch let error as PostgresError where error.code == .lockNotAvailable {
            handle(
                .failed(
                    SessionFailure(
                        .unavailable,
                        "Others are changing the same objects and didn't finish in time; try again.",
                        isRetryable: true)))
        } catch let error as PostgresError where !error.isRetryable {
            logger.error("Ending the session: the database refused to apply uploaded changesets: \(error)")
            handle(
                .failed(
                    SessionFailure(
                        .unavailable,
                        "The gateway's database refused to apply this device's changes; the gateway's log says why. "
                            + "They stay on the device, which sends them again until that is fixed.",
                        isRetryable: true)))
        } catch {
            fail(error, doing: "applying uploaded changesets")
        }
        return nil
    }

    /// Returns the budget of uploads that the session dropped because they came too early or too late.
    func releaseDroppedUploads() async {
        guard !session.hasWaitingUploads, waitingUploadByteCount > 0 else { return }
        let byteCount = waitingUploadByteCount
        waitingUploadByteCount = 0
        await services.uploadBudget.release(byteCount, of: sender)
    }

    /// Returns the budget of waiting uploads after the session has ended, because they will never be applied.
    func releaseWaitingUploads() async {
        let byteCount = waitingUploadByteCount
        waitingUploadByteCount = 0
        await services.uploadBudget.release(byteCount, of: sender)
    }
}
