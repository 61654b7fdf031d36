public import Hummingbird
public import TomboloModel
public import TomboloRules

/// How routes find out who is asking: by an access token, unless a service registers its routes with another way. A route
/// has one way and looks at no other: a page never takes an access token, and a JSON route never takes a cookie.
public struct RouteIdentity: Sendable {
    /// Who is asking, and what the way they prove it knows besides.
    public struct Caller: Sendable {
        public let subject: Subject
        /// For handlers: ``EdgeContext/session``.
        public let session: (any Sendable)?
        /// Who is logged in, which the subject may not be of whose sight a page is.
        public let userID: ObjectId?

        /// - Parameter userID: nil for the subject's.
        public init(subject: Subject, session: (any Sendable)? = nil, userID: ObjectId? = nil) {
            self.subject = subject
            self.session = session
            self.userID = userID ?? subject.userID
        }
    }

    /// Whether a request without a proof may count as an anonymous visitor's, where the route's access takes one.
    let admitsAnonymous: Bool
    let isPresent: @Sendable (Request) -> Bool
    let identify: @Sendable (Request, EdgeContext) async throws -> Caller

    /// A way that always takes a proof, whatever the rules open to anonymous visitors.
    /// - Parameter identify: throws a ``RequestFailure`` with status 401 where there is none that counts. It is called
    ///   once for each request, before the route's access is asked.
    public init(_ identify: @escaping @Sendable (Request, EdgeContext) async throws -> Caller) {
        admitsAnonymous = false
        isPresent = { _ in true }
        self.identify = identify
    }

    /// By access token.
    init(bearer verify: @escaping @Sendable (_ token: String) async throws -> Subject) {
        admitsAnonymous = true
        isPresent = { $0.headers[.authorization] != nil }
        identify = { request, _ in Caller(subject: try await verify(BearerToken.of(request))) }
    }
}
