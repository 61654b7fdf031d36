public import Hummingbird

/// The format of failures below some path, if it isn't the edge's own.
public struct FailureFormat: Sendable {
    let contentType: String
    let write: @Sendable (_ failure: RequestFailure, _ requestID: String) -> JSONBytes
    /// Nil if ``write`` makes the answer.
    var respond: (@Sendable (RequestFailure, Request, EdgeContext) async -> Response)?

    /// - Parameter write: makes the body of an answer. It sees the parts of a failure that are meant for clients, but
    ///   not its cause.
    public init(
        contentType: String, write: @escaping @Sendable (_ failure: RequestFailure, _ requestID: String) -> JSONBytes
    ) {
        self.contentType = contentType
        self.write = write
    }

    /// Makes whole answers: pages, or redirects.
    /// - Parameter respond: sees the parts of a failure that are meant for clients, but not its cause.
    public init(
        respond: @escaping @Sendable (_ failure: RequestFailure, Request, EdgeContext) async -> Response
    ) {
        contentType = ""
        write = { _, _ in JSONBytes() }
        self.respond = respond
    }
}
