public import TomboloModel

/// Why the server didn't accept one of a changeset's writes. The device undoes that write and keeps the others.
public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The user's roles don't permit the write.
        case notPermitted
        /// A unique rule, a check or another database constraint failed.
        case constraint
        /// The server doesn't accept a value, class or column.
        case invalid
        /// The server couldn't apply the changeset for an unknown reason. It keeps the changeset and reports it to the
        /// operator.
        case setAside
    }

    /// The kind of refusal. Apps may act on it.
    public let code: Code
    /// A sentence for the app's developer: what was refused and why. Contains no other user's data.
    public let message: String
    /// The class of the object concerned, or nil if the refusal isn't about one object.
    public let className: String?
    /// The primary key of the object concerned, or nil like ``className``.
    public let key: Value?
    /// The name of the role that didn't permit the write, or nil if no role decided.
    public let role: String?

    /// The maximum length of a message in UTF-8 bytes; longer ones are cut. A refusal stays in the database, and in the
    /// memory of every gateway, until its device has received it.
    public static let maximumMessageByteCount = 1_000
    /// The maximum length of a key in bytes. An object with a longer key isn't named, because a key can be as long as
    /// any string.
    public static let maximumKeyByteCount = 1_000
    /// The maximum length of a role's name in UTF-8 bytes; longer ones are cut.
    public static let maximumRoleByteCount = 200

    /// Makes a refusal within ``maximumMessageByteCount`` and ``maximumKeyByteCount``, whatever it quotes.
    public init(_ code: Code, _ message: String, className: String? = nil, key: Value? = nil, role: String? = nil) {
        let namesObject = key.map { $0.byteCount <= Self.maximumKeyByteCount } ?? true
        self.code = code
        self.message = message.shortened(toByteCount: Self.maximumMessageByteCount)
        self.className = namesObject ? className : nil
        self.key = namesObject ? key : nil
        self.role = role?.shortened(toByteCount: Self.maximumRoleByteCount)
    }

    public var description: String { message }
}
