extension RequestFailure {
    /// The part of a request that is at fault.
    public enum Source: Hashable, Sendable {
        /// A query parameter.
        case parameter(String)
        /// A JSON pointer into the body (RFC 6901).
        case pointer(String)
        case header(String)
    }
}
