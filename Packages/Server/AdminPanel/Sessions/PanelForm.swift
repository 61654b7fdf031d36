import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TomboloHTTP
import TomboloLocalization

/// The fields of a form in order: `application/x-www-form-urlencoded`, or `multipart/form-data` with small files.
public struct PanelForm: Sendable {
    /// The field with the session's token, which every form contains.
    static let tokenField = "_token"
    /// The field with a password that was demanded.
    static let passwordField = "_password"
    /// The field with the second factor's code, next to the password.
    static let codeField = "_code"
    static let maximumFieldCount = 3_000
    /// The maximum size of all fields together that aren't files.
    static let maximumTextByteCount = 1 << 20
    static let maximumFileByteCount = 5 << 20

    struct Field: Sendable {
        let name: String
        let value: String
    }

    public struct File: Sendable {
        /// The name of its field.
        public let name: String
        /// The name on the sender's system; empty if no file was chosen.
        public let fileName: String
        public let bytes: [UInt8]
    }

    private(set) var fields: [Field] = []
    public private(set) var files: [File] = []

    init() {}

    /// - Throws: ``RequestFailure``: 415 for another media type, 413 for a body that is too long, 400 for one that
    ///   can't be decoded.
    init(_ request: Request, _ context: EdgeContext) async throws {
        self.init()
        let limit = context.limits.bodyBytes
        let decoder = request.headers[.contentType].flatMap {
            MultipartDecoder(contentType: $0, partLimit: Self.maximumFieldCount)
        }
        if let decoder {
            try await read(request.body, decoder, limit: limit)
            return
        }
        guard request.headers[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true else {
            throw RequestFailure(.unsupportedMediaType, "The body isn't a form.")
        }
        do {
            let buffer = try await request.body.collect(upTo: min(limit, Self.maximumTextByteCount))
            self = try PanelForm(String(buffer: buffer))
        } catch is NIOTooManyBytesError {
            throw RequestFailure(
                .tooLarge, "The form is longer than \(min(limit, Self.maximumTextByteCount)) bytes.",
                hint: "Send less at once.")
        }
    }

    /// - Parameter text: the fields as browsers encode them.
    init(_ text: String) throws {
        let parts = text.split(separator: "&")
        guard parts.count <= Self.maximumFieldCount else {
            throw RequestFailure(.badRequest, "The form has more than \(Self.maximumFieldCount) fields.")
        }
        fields = try parts.map { part in
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(sides[0]), let value = Self.decode(sides.count > 1 ? sides[1] : ""),
                !name.utf8.contains(0), !value.utf8.contains(0)
            else {
                throw RequestFailure(.badRequest, "The form has a field that isn't text.")
            }
            return Field(name: name, value: value)
        }
    }

    /// The 403 failure for a form without the session's token.
    static var foreign: RequestFailure {
        RequestFailure(
            .forbidden,
            "This form was loaded before you logged in or re-entered your password in another window. Nothing was "
                + "changed.",
            hint: "Go back, load the page again, and send the form again.")
    }

    mutating func add(_ field: Field) { fields.append(field) }
    mutating func add(_ file: File) { files.append(file) }

    private static func decode(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }

    /// The value of a field; nil if there is no field of that name.
    public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The values of all fields of that name.
    public func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    private static let ownFields: Set<String> = [tokenField, passwordField, codeField]

    /// The fields without the token, the password and the code.
    var content: [Field] { fields.filter { !Self.ownFields.contains($0.name) } }
}
