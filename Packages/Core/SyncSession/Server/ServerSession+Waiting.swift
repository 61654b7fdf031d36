internal import TomboloSyncProtocol

/// Time limits for the phases that wait for the device.
extension ServerSession {
    mutating func countToOpening() -> [Action] {
        heartbeats += 1
        guard heartbeats >= Self.maximumOpeningHeartbeats else { return [] }
        return fail(
            SessionFailure(
                .notAuthenticated,
                "The device did not open its session within "
                    + "\(Self.maximumOpeningHeartbeats * Self.heartbeatSeconds) seconds.", isRetryable: true))
    }

    mutating func countToUpload(_ opening: ClientOpening) -> [Action] {
        guard uploading.isEmpty else { return [] }
        heartbeats += 1
        guard heartbeats >= Self.maximumSilentHeartbeats else { return [] }
        return fail(
            SessionFailure(
                .unavailable,
                "For \(Self.maximumSilentHeartbeats * Self.heartbeatSeconds) seconds the device showed none of the "
                    + "changesets \(received + 1) to \(opening.last), which it has no outcome of. After welcome it uploads "
                    + "them again, as they were, or sends an empty upload where it has no more.", isRetryable: true))
    }
}
