import Hummingbird
import NIOCore
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization

/// A form with a file, read as it arrives: part by part, in bounded memory.
struct PanelUpload {
    /// The maximum size of a field that isn't a file.
    static let maximumFieldByteCount = 4_096

    private var chunks: RequestBody.AsyncIterator
    private var decoder: MultipartDecoder
    private var events: [MultipartDecoder.Event] = []
    private var byteCount = 0
    private let limit: Int
    private var isOver = false

    /// - Returns: nil for a request without such a form.
    init?(_ request: Request, limit: Int) {
        guard let decoder = request.headers[.contentType].flatMap({ MultipartDecoder(contentType: $0) }) else {
            return nil
        }
        self.decoder = decoder
        self.limit = limit
        chunks = request.body.makeAsyncIterator()
    }

    private mutating func next() async throws -> MultipartDecoder.Event? {
        while events.isEmpty, !isOver {
            guard let buffer = try await chunks.next() else {
                try decoder.finish()
                isOver = true
                break
            }
            byteCount += buffer.readableBytes
            guard byteCount <= limit else {
                throw RequestFailure(
                    .tooLarge, "The form has more than \(limit) bytes.", hint: "Send a smaller file.")
            }
            events = try decoder.feed(buffer.readableBytesView).reversed()
        }
        return events.popLast()
    }

    /// The next part, skipping what is left of the current one.
    mutating func part() async throws -> (name: String, fileName: String?)? {
        while let event = try await next() {
            if case .part(let name, let fileName) = event { return (name, fileName) }
        }
        return nil
    }

    /// The next bytes of the part's content; nil at its end.
    mutating func content() async throws -> [UInt8]? {
        guard case .content(let bytes)? = try await next() else { return nil }
        return bytes
    }

    /// The part's whole content.
    mutating func text() async throws -> String {
        var all: [UInt8] = []
        while let bytes = try await content() {
            all += bytes
            guard all.count <= Self.maximumFieldByteCount else {
                throw RequestFailure(
                    .badRequest, "A field of the form has more than \(Self.maximumFieldByteCount) bytes.")
            }
        }
        return String(decoding: all, as: UTF8.self)
    }

    /// Checks that the first field is the session's token, before anything else in the form is read.
    /// - Throws: ``RequestFailure`` with status 403.
    mutating func checkToken(_ token: PanelToken) async throws {
        guard try await part()?.name == PanelForm.tokenField, token.accepts(formToken: try await text()) else {
            throw PanelForm.foreign
        }
    }
}
