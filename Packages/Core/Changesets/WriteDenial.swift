/// Why a write isn't permitted.
public struct WriteDenial: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// A sentence for the app's developer that names the class and the operation, but contains no data.
    public let reason: String
    /// The name of the role that decided, or nil if none did.
    public let role: String?

    public init(_ reason: String, role: String?) {
        self.reason = reason
        self.role = role
    }

    /// A denial that no role decided.
    public init(stringLiteral reason: String) { self.init(reason, role: nil) }
}
