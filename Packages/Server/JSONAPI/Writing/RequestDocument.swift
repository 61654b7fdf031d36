import Foundation
import Hummingbird
import NIOCore
import TomboloHTTP
import TomboloModel

/// The body of a request as JSON.
struct RequestDocument {
    let json: JSON

    /// - Parameter knownExtension: the JSON:API extension that the body must use.
    /// - Throws: ``RequestFailure``: 415 for another type, 413 for too long a body, 400 for anything but a JSON object.
    static func read(
        _ request: Request, _ context: EdgeContext, requiredExtension: String? = nil
    ) async throws -> RequestDocument {
        try JSONAPIMediaType.checkContent(request, requiredExtension: requiredExtension)
        try JSONAPIMediaType.checkAccept(request, knownExtension: requiredExtension)
        return try parse(try await content(request, context))
    }

    /// The same for a request that may have no body; nil if it has none. Many clients send a content type all the same.
    static func readIfAny(_ request: Request, _ context: EdgeContext) async throws -> RequestDocument? {
        let buffer = try await content(request, context)
        guard buffer.readableBytes > 0 else { return nil }
        try JSONAPIMediaType.checkContent(request, requiredExtension: nil)
        return try parse(buffer)
    }

    private static func content(_ request: Request, _ context: EdgeContext) async throws -> ByteBuffer {
        do {
            return try await request.body.collect(upTo: context.limits.bodyBytes)
        } catch is NIOTooManyBytesError {
            throw RequestFailure(
                .tooLarge, "The request's body is longer than \(context.limits.bodyBytes) bytes.",
                hint: "Send less at once.")
        }
    }

    private static func parse(_ buffer: ByteBuffer) throws -> RequestDocument {
        guard let json = try? JSONDecoder().decode(JSON.self, from: Data(buffer.readableBytesView)),
            case .object = json
        else {
            throw RequestFailure(
                .badRequest, "The body isn't a JSON object in UTF-8.",
                hint: "Send a JSON:API document, such as {\"data\": {\"type\": …}}.", source: .pointer(""))
        }
        if let repeated = RepeatedMember(in: buffer.readableBytesView) {
            var failure = RequestFailure(repeated)
            failure.source = .pointer("")
            throw failure
        }
        return RequestDocument(json: json)
    }

    /// For addresses that take no parameters.
    static func checkNoParameters(_ request: Request) throws {
        guard let parameter = try RequestParameters(request).all.first else { return }
        throw parameter.failure("it isn't supported here.", "This address takes no parameters.")
    }
}
