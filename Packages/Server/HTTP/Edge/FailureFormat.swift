public import Hummingbird

/// How failures are written below some address, where that isn't the edge's own way.
public struct FailureFormat: Sendable {
    let contentType: String
    let write: @Sendable (_ failure: RequestFailure, _ requestID: String) -> JSONBytes
    /// Nil for what ``write`` makes.
    var respond: (@Sendable (RequestFailure, Request, EdgeContext) async -> Response)?

    /// - Parameter write: the body of an answer; of a failure what clients may see, and not its cause.
    public init(
        contentType: String, write: @escaping @Sendable (_ failure: RequestFailure, _ requestID: String) -> JSONBytes
    ) {
        self.contentType = contentType
        self.write = write
    }

    /// Whole answers: pages, or redirections.
    /// - Parameter respond: of a failure, what clients may see, and not its cause.
    public init(
        respond: @escaping @Sendable (_ failure: RequestFailure, Request, EdgeContext) async -> Response
    ) {
        contentType = ""
        write = { _, _ in JSONBytes() }
        self.respond = respond
    }
}
