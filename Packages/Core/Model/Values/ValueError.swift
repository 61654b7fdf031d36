/// A value that its property can't hold, or a predicate that doesn't fit its class.
public struct ValueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence that says what was found and what is accepted.
    public let wording: Wording

    /// The sentence in English.
    public var message: String { wording.description }

    public init(_ wording: Wording) { self.wording = wording }

    /// One that has no translation.
    public init(_ message: String) { wording = Wording(untranslated: message) }

    public var description: String { message }
}
