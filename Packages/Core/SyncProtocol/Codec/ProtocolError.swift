internal import TomboloModel

/// Why a message, or a stored part of one, can't be read, and the place of the problem in the message.
public struct ProtocolError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// Not in the format: truncated, corrupted, or with a value that the field can't have.
        case malformed
        /// A class or property that the reader's schema lacks or has with another type.
        case badSchema
        /// Exceeds one of the limits of ``MessageCodec``.
        case tooLarge
        /// Written by a version of the protocol that this one can't read.
        case unsupportedVersion
    }

    /// The kind of error, which determines ``failure``.
    public let code: Code
    /// What was wrong and where: a sentence for developers and logs.
    public let message: String

    /// The maximum size of ``message`` in bytes; longer ones are cut. Most messages quote a peer's input.
    public static let maximumMessageByteCount = 1_000

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message.shortened(toByteCount: Self.maximumMessageByteCount)
    }

    public var description: String { message }

    /// The same error, with the enclosing part of the message added in front of its place.
    func at(_ place: String) -> ProtocolError { ProtocolError(code, "\(place): \(message)") }

    /// The failure to send to a device whose message can't be read.
    public var failure: SessionFailure {
        switch code {
        case .malformed: SessionFailure(.badMessage, message)
        case .badSchema: SessionFailure(.badSchema, message)
        case .tooLarge: SessionFailure(.tooLarge, message)
        case .unsupportedVersion: SessionFailure(.unsupportedVersion, message)
        }
    }
}
