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

    public init(_ code: Code, _ message: String, className: String? = nil, key: Value? = nil) {
        self.code = code
        self.message = message
        self.className = className
        self.key = key
    }

    public var description: String { message }
}
