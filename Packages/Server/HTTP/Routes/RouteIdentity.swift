public import Hummingbird
public import TomboloModel
public import TomboloRules

/// How routes identify the caller: by an access token, unless a service registers its routes with another way. A route
/// has one way and ignores all others: a page never accepts an access token, and a JSON route never accepts a cookie.
public struct RouteIdentity: Sendable {
    /// The caller, and whatever else the proof of identity says.
    public struct Caller: Sendable {
        public let subject: Subject
        /// For handlers: ``EdgeContext/session``.
        public let session: (any Sendable)?
        /// The user who is logged in. It differs from the subject's if a page shows what somebody else would see.
        public let userID: ObjectId?

        /// - Parameter userID: nil for the subject's.
        public init(subject: Subject, session: (any Sendable)? = nil, userID: ObjectId? = nil) {
            self.subject = subject
            self.session = session
            self.userID = userID ?? subject.userID
        }
    }

    /// Whether a request without a proof may count as an anonymous visitor's, if the route's access accepts one.
    let admitsAnonymous: Bool
    let isPresent: @Sendable (Request) -> Bool
    let identify: @Sendable (Request, EdgeContext) async throws -> Caller

    /// An identity that always requires a proof, even for what the rules open to anonymous visitors.
    /// - Parameter identify: throws a ``RequestFailure`` with status 401 if there is no valid proof. It is called once
    ///   for each request, before the route's access is asked.
    public init(_ identify: @escaping @Sendable (Request, EdgeContext) async throws -> Caller) {
        admitsAnonymous = false
        isPresent = { _ in true }
        self.identify = identify
    }

    /// Identifies callers by access token.
    init(bearer verify: @escaping @Sendable (_ token: String) async throws -> Subject) {
        admitsAnonymous = true
        isPresent = { $0.headers[.authorization] != nil }
        identify = { request, _ in Caller(subject: try await verify(BearerToken.of(request))) }
    }
}
