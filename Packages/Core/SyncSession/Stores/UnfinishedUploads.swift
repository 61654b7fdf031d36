public import TomboloChangesets

/// Thrown by ``ServerStore/upload(_:)`` if the outcome of some clients' changesets is unknown, and that of others' isn't.
public struct UnfinishedUploads: Error {
    /// One for each upload, in their order; nil where the outcome is unknown.
    public let results: [UploadResult?]
    /// What went wrong, for each client that lacks a result.
    public let causes: [ClientID: any Error]

    public init(results: [UploadResult?], causes: [ClientID: any Error]) {
        self.results = results
        self.causes = causes
    }
}
