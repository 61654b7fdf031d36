import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore
package import TomboloModel

extension Request {
    /// Decodes the request's body.
    /// - Throws: ``RequestFailure``: 413 for a body over the limit, 415 for another content type, and 400 for anything
    ///   else, with where and what was expected.
    public func json<Content: Decodable>(_ type: Content.Type, _ context: EdgeContext) async throws -> Content {
        // Cross-site forms can't send this type, so other sites can't make use of a browser's cookies.
        guard let kind = headers[.contentType], kind.lowercased().hasPrefix("application/json") else {
            throw Self.notJSON
        }
        return try Self.decode(type, try await content(context))
    }

    /// Like ``json(_:_:)``, for a request that may have no body; nil if it has none.
    public func optionalJSON<Content: Decodable>(
        _ type: Content.Type, _ context: EdgeContext
    ) async throws -> Content? {
        guard headers[.contentType] == nil else { return try await json(type, context) }
        guard try await content(context).readableBytes == 0 else { throw Self.notJSON }
        return nil
    }

    private static var notJSON: RequestFailure {
        RequestFailure(
            .unsupportedMediaType, "The body must be JSON.", hint: "Send the header Content-Type: application/json.")
    }

    private func content(_ context: EdgeContext) async throws -> ByteBuffer {
        do {
            return try await body.collect(upTo: context.limits.bodyBytes)
        } catch is NIOTooManyBytesError {
            throw RequestFailure(
                .tooLarge, "The request's body is longer than \(context.limits.bodyBytes) bytes.")
        }
    }

    private static func decode<Content: Decodable>(_ type: Content.Type, _ buffer: ByteBuffer) throws -> Content {
        guard buffer.readableBytes > 0 else {
            throw RequestFailure(.badRequest, "The body is empty.", hint: "Send a JSON object.")
        }
        let content: Content
        do {
            content = try JSONDecoder().decode(type, from: Data(buffer.readableBytesView))
        } catch let error as DecodingError {
            throw RequestFailure(error)
        }
        if let repeated = RepeatedMember(in: buffer.readableBytesView) { throw RequestFailure(repeated) }
        return content
    }
}

extension RequestFailure {
    /// How much of a path in the body is quoted, in bytes: the names in it may be the caller's.
    private static let shownPathByteCount = 200

    /// Says where in the body the error is and what was expected. It never says what was there, which may be a
    /// password.
    init(_ error: DecodingError) {
        func place(_ path: [any CodingKey]) -> String {
            let names = path.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? "the body" : "'\(names.shortened(toByteCount: Self.shownPathByteCount))'"
        }
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.badRequest, "\(place(context.codingPath + [key])) is missing.")
        case .typeMismatch(let type, let context):
            self.init(.badRequest, "\(place(context.codingPath)) is not a \(Self.jsonName(of: type)).")
        case .valueNotFound(let type, let context):
            self.init(.badRequest, "\(place(context.codingPath)) is null; expected a \(Self.jsonName(of: type)).")
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            self.init(.badRequest, "\(place(context.codingPath)) has an invalid value.")
        default:
            self.init(.badRequest, "The body is not valid JSON.")
        }
    }

    /// Refuses a body with a member of which one of two values would be lost.
    package init(_ repeated: RepeatedMember) {
        let name = repeated.name.shortened(toByteCount: Self.shownPathByteCount)
        self.init(.badRequest, "The body has '\(name)' twice in one object.", hint: "Send it once.")
    }

    private static func jsonName(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "string"
        case is Bool.Type: "boolean"
        case is any Numeric.Type: "number"
        case is [String: Any].Type: "JSON object"
        case is [Any].Type: "list"
        default: "JSON object"
        }
    }
}
