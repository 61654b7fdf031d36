import TomboloLocalization
public import TomboloModel
package import TomboloRules

/// Why a request wasn't carried out, in two voices: ``message`` and ``hint`` are safe to show to the client, ``cause``
/// goes to the log only.
///
/// Services throw it. The edge decides which HTTP status it becomes, by ``Code/status``.
public struct RequestFailure: Error, Sendable {
    public var code: Code
    /// What was wrong and where, for the client. A job stores it untranslated, so that each reader sees it in their
    /// own language.
    public var wording: Wording
    /// What to do about it, for the client.
    public var hintWording: Wording?
    /// The hint for somebody who sees a page, if ``hint`` speaks of requests.
    public var pageHint: String?
    /// For a conflict: the properties whose values clash.
    public var properties: [String]
    /// What else a program needs to know, by name.
    public var details: [String: JSON] = [:]
    /// For account requests: RealmSwift's name for the error.
    public var appError: AppErrorName?
    /// The underlying error. Never sent.
    public var cause: (any Error)?
    /// What decided about the request's route. Sent in development only.
    var decision: String?
    /// The purposes of permission boxes that would open a refused route, for pages that name them. Never sent.
    package internal(set) var purposes: Set<BoxPurpose> = []
    /// ``EdgeContext/session`` of the request, for formats that show whose request failed. Never sent.
    public internal(set) var session: (any Sendable)?
    /// When to try again, in seconds; nil for the edge's default.
    public var retryAfterSeconds: Int?
    /// The part of the request that is at fault.
    public var source: Source?
    /// Other problems of the same request, for formats that list them.
    public var others: [RequestFailure] = []

    /// ``wording`` in the language of the page. A text that is set has no further translation.
    public var message: String {
        get { wording.localized }
        set { wording = Wording(untranslated: newValue) }
    }

    /// ``hintWording`` in the language of the page. A text that is set has no further translation.
    public var hint: String? {
        get { hintWording?.localized }
        set { hintWording = newValue.map { Wording(untranslated: $0) } }
    }

    public init(
        _ code: Code, _ wording: Wording, hint: Wording? = nil, pageHint: String? = nil, properties: [String] = [],
        source: Source? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.wording = wording
        hintWording = hint
        self.pageHint = pageHint
        self.properties = properties
        self.source = source
        self.cause = cause
    }

    // Disfavoured, so that a module with translations can have its own initialiser for literals.
    @_disfavoredOverload
    public init(
        _ code: Code, _ message: String, hint: String? = nil, pageHint: String? = nil, properties: [String] = [],
        source: Source? = nil, cause: (any Error)? = nil
    ) {
        self.init(
            code, Wording(untranslated: message), hint: hint.map { Wording(untranslated: $0) }, pageHint: pageHint,
            properties: properties, source: source, cause: cause)
    }
}

extension RequestFailure: CustomStringConvertible {
    /// The full voice, for logs: in English.
    public var description: String {
        var text = "\(code.rawValue): \(wording)"
        if let hintWording { text += " (\(hintWording))" }
        if let cause { text += "; cause: \(cause)" }
        return text
    }
}
