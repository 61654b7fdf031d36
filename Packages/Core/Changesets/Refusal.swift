public import TomboloModel

/// Why the server did not accept a changeset. The device undoes the whole changeset and keeps its others.
public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The subject's role may not do this.
        case notPermitted
        /// A unique rule, a check or another constraint of the database.
        case constraint
        /// A value, class or column that the server does not accept.
        case invalid
        /// The server could not apply it for a reason that it does not know; reported to the operator.
        case setAside
    }

    public let code: Code
    /// A sentence for the app's developer: what was refused and why. Holds no data of other people.
    public let message: String
    /// The class name and key of the object concerned, where one object is.
    public let className: String?
    public let key: Value?

    /// The longest message, in bytes of UTF-8: a longer one is cut. A refusal stays in the database until its device has
    /// it, and in the memory of every gateway meanwhile.
    public static let maximumMessageByteCount = 1_000
    /// An object with a longer key, in bytes, isn't named: a key may be as long as any text.
    public static let maximumKeyByteCount = 1_000

    /// Bounded by ``maximumMessageByteCount`` and ``maximumKeyByteCount``, whatever it quotes.
    public init(_ code: Code, _ message: String, className: String? = nil, key: Value? = nil) {
        let namesObject = key.map { $0.byteCount <= Self.maximumKeyByteCount } ?? true
        self.code = code
        self.message = message.shortened(toByteCount: Self.maximumMessageByteCount)
        self.className = namesObject ? className : nil
        self.key = namesObject ? key : nil
    }

    public var description: String { message }
}
