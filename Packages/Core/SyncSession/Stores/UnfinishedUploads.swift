public import TomboloChangesets

/// Thrown by ``ServerStore/upload(_:)`` if the outcome is unknown for some clients' changesets and known for others'.
public struct UnfinishedUploads: Error {
    /// One result for each upload, in order; nil if the outcome is unknown.
    public let results: [UploadResult?]
    /// The error for each client that lacks a result.
    public let causes: [ClientID: any Error]

    public init(results: [UploadResult?], causes: [ClientID: any Error]) {
        self.results = results
        self.causes = causes
    }
}
