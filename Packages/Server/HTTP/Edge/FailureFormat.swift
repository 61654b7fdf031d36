/// How failures are written below some address, where that isn't the edge's own way.
public struct FailureFormat: Sendable {
    let contentType: String
    let write: @Sendable (_ failure: RequestFailure, _ requestID: String) -> JSONBytes

    /// - Parameter write: the body of an answer; of a failure what clients may see, and not its cause.
    public init(
        contentType: String, write: @escaping @Sendable (_ failure: RequestFailure, _ requestID: String) -> JSONBytes
    ) {
        self.contentType = contentType
        self.write = write
    }
}
