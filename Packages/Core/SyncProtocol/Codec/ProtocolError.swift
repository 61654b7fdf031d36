internal import TomboloModel

/// Why a message, or a stored part of one, can't be read, and where in the message the problem is.
public struct ProtocolError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// Not in the format: truncated, corrupted, or with a value that its field can't have.
        case malformed
        /// A class or property that the reader's schema lacks or has with another type.
        case badSchema
        /// Beyond one of the bounds of ``MessageCodec``.
        case tooLarge
        /// Written by a version of the protocol that this one can't read.
        case unsupportedVersion
    }

    /// What kind of error it is; ``failure`` depends on it.
    public let code: Code
    /// What was wrong and where, as a sentence for developers and logs.
    public let message: String

    /// The maximum size of ``message`` in bytes; a longer one is cut. Most messages quote a peer's input.
    public static let maximumMessageByteCount = 1_000

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message.shortened(toByteCount: Self.maximumMessageByteCount)
    }

    public var description: String { message }

    /// The same error with the enclosing part of the message put before its place.
    func at(_ place: String) -> ProtocolError { ProtocolError(code, "\(place): \(message)") }

    /// The failure to send to a device whose message couldn't be read.
    public var failure: SessionFailure {
        switch code {
        case .malformed: SessionFailure(.badMessage, message)
        case .badSchema: SessionFailure(.badSchema, message)
        case .tooLarge: SessionFailure(.tooLarge, message)
        case .unsupportedVersion: SessionFailure(.unsupportedVersion, message)
        }
    }
}
