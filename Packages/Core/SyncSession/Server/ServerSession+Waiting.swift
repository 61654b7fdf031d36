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
                "For \(Self.maximumSilentHeartbeats * Self.heartbeatSeconds) seconds the device didn't upload "
                    + "changesets \(received + 1) to \(opening.last), whose outcome it doesn't know. After welcome it "
                    + "must upload them unchanged, or send an empty upload if it no longer has them.",
                isRetryable: true))
    }
}
