extension RequestFailure {
    /// The part of a request that is at fault.
    public enum Source: Hashable, Sendable {
        /// A parameter of the query.
        case parameter(String)
        /// A place in the body (RFC 6901).
        case pointer(String)
        case header(String)
    }
}
