internal import TomboloModel

/// A message, or a stored piece of one, that cannot be read: what was wrong, and where in the message.
public struct ProtocolError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// Not the format: cut short, garbled, or a value that its field cannot have.
        case malformed
        /// A class or property that the reader's schema does not have, or has with another type.
        case badSchema
        /// Beyond one of the bounds of ``MessageCodec``.
        case tooLarge
        /// Written by a version of the protocol that this one does not read.
        case unsupportedVersion
    }

    public let code: Code
    public let message: String

    /// The longest message, in bytes: a longer one is cut. Most quote what somebody sent.
    public static let maximumMessageByteCount = 1_000

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message.shortened(toByteCount: Self.maximumMessageByteCount)
    }

    public var description: String { message }

    /// The same error, seen from the part of the message that contains the one it named.
    func at(_ place: String) -> ProtocolError { ProtocolError(code, "\(place): \(message)") }

    /// What a gateway tells a device that sent the message.
    public var failure: SessionFailure {
        switch code {
        case .malformed: SessionFailure(.badMessage, message)
        case .badSchema: SessionFailure(.badSchema, message)
        case .tooLarge: SessionFailure(.tooLarge, message)
        case .unsupportedVersion: SessionFailure(.unsupportedVersion, message)
        }
    }
}
