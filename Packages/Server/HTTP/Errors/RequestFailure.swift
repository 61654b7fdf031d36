package import TomboloRules

/// Why a request was not carried out, in two voices: ``message`` and ``hint`` are safe to show to the client,
/// ``cause`` goes to the log only.
///
/// Services throw it; which HTTP status it becomes is decided at the edge, by ``Code/status``.
public struct RequestFailure: Error, Sendable {
    public var code: Code
    /// What was wrong and where, for the client.
    public var message: String
    /// What to do about it, for the client.
    public var hint: String?
    /// The same for somebody who sees a page, if ``hint`` speaks of requests.
    public var pageHint: String?
    /// For a conflict: the properties whose values clash.
    public var properties: [String]
    /// What a program needs to know besides, by name.
    public var details: [String: JSON] = [:]
    /// For requests about accounts: what RealmSwift calls it.
    public var appError: AppErrorName?
    /// The underlying error. Never sent.
    public var cause: (any Error)?
    /// What decided about the request's route; told in development only.
    var decision: String?
    /// What boxes of a permission matrix would open a refused route, for pages that name them. Never sent.
    package internal(set) var purposes: Set<BoxPurpose> = []
    /// ``EdgeContext/session`` of the request, for formats that show who met the failure. Never sent.
    public internal(set) var session: (any Sendable)?
    /// When to try again; nil for the edge's default.
    public var retryAfterSeconds: Int?
    /// What in the request is at fault.
    public var source: Source?
    /// Whatever else is wrong with the same request, for formats that tell it.
    public var others: [RequestFailure] = []

    // Disfavoured, so that a module with translations can have an initialiser of its own for literals.
    @_disfavoredOverload
    public init(
        _ code: Code, _ message: String, hint: String? = nil, pageHint: String? = nil, properties: [String] = [],
        source: Source? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.pageHint = pageHint
        self.properties = properties
        self.source = source
        self.cause = cause
    }
}

extension RequestFailure: CustomStringConvertible {
    /// The full voice: for logs.
    public var description: String {
        var text = "\(code.rawValue): \(message)"
        if let hint { text += " (\(hint))" }
        if let cause { text += "; cause: \(cause)" }
        return text
    }
}
