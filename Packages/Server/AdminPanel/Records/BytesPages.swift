import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// The bytes of a property, as a file to save. Images are shown by pages of the panel from the same address.
struct BytesPages: PanelSection {
    static func path(of type: ResourceType, id: String, _ field: ResourceField) -> String {
        "\(ClassPages.path(of: type, id: id))/bytes/\(RequestParameters.encode(field.name))"
    }

    /// The parameter that asks for a thumbnail, by its size.
    static let thumbnail = "thumbnail"

    /// Where an image is that a page shows: a thumbnail if any are made.
    static func imagePath(
        of type: ResourceType, id: String, _ field: ResourceField, _ size: Thumbnails.Size, _ core: PanelCore
    ) -> String {
        let path = path(of: type, id: id, field)
        return core.makesThumbnails ? "\(path)?\(thumbnail)=\(size.rawValue)" : path
    }

    /// Whether an attribute's bytes are an image, by what they begin with.
    static func isImage(_ json: JSON?) -> Bool {
        guard case .string(let text)? = json else { return false }
        // So many characters have more bytes than a signature.
        return Data(base64Encoded: String(text.prefix(16))).flatMap { ImageType($0) } != nil
    }

    func add(to panel: PanelRoutes) {
        let reading = ClassPages.access(localized("read", context: "may …"), panel.core) { _ in [.read] }
        let path = "\(ClassPages.path)/{collection}/{id}/bytes/{field}"
        panel.routes.leaveUnchangedOutOfRequestLog(path)
        panel.page(path, access: reading) { request, grant in
            let (view, type) = try ClassPages.found(request, grant)
            return try await answer(request, view, type)
        }
    }

    private func answer(_ request: PanelRequest, _ view: CallerView, _ type: ResourceType) async throws -> PanelAnswer {
        let page = RecordPage(request: request, view: view, type: type)
        let name = request.parameter("field")
        guard let field = view.fields(of: type).first(where: { $0.name == name }), field.isBytes else {
            throw RequestFailure(.notFound, "There are no such bytes.", hint: "The record's page lists its fields.")
        }
        var query = ResourceQuery()
        query.fields[type.name] = [field.name]
        let found = try await ResourceReader(view: view).single(type, key: try page.key(), query, request.core.pool)
        guard let found else { throw RequestFailure.noSuchObject(ClassTitle.singular(of: type)) }
        guard case .string(let text)? = try PanelResource(found.resource).attribute(field.name),
            let bytes = Data(base64Encoded: text)
        else { throw RequestFailure(.notFound, "There are no bytes.") }
        let shown = try await self.shown(bytes, request)
        return .response(Self.response(shown, named: "\(type.name)-\(field.name)", to: request.request))
    }

    /// What a page gets of an image: the image itself where no thumbnail is asked for, and where there's none, unless it's for a
    /// list and too large for that. Then the page has its words.
    private func shown(_ bytes: Data, _ request: PanelRequest) async throws -> Data {
        guard let size = request.query(Self.thumbnail).flatMap(Thumbnails.Size.init) else { return bytes }
        if let thumbnail = try await request.core.thumbnails?.thumbnail(of: bytes, size, for: request.userID) {
            return thumbnail
        }
        guard size == .large || bytes.count <= BytesBeginning.maximumImageByteCount else {
            throw RequestFailure(.notFound, "There's no thumbnail of these bytes.")
        }
        return bytes
    }

    /// Nothing of it runs: it's saved unless an image of a page asks for it, and a browser that opens it all the same has no
    /// scripts, no forms and no origin for it.
    ///
    /// A browser keeps an image for its user alone, and asks again before each use, so that it's never shown by rights that are
    /// gone: the answer is 304 if it's still the same. Everything else isn't kept.
    static func response(_ bytes: Data, named name: String, to request: Request) -> Response {
        guard let image = ImageType(bytes) else {
            return response(bytes, "application/octet-stream", fileName(name, "bin"), [.cacheControl: "no-store"])
        }
        let version = ResourceVersion(of: ArraySlice(bytes)).text
        let keeping: HTTPFields = [.cacheControl: "private, no-cache", .eTag: "\"\(version)\""]
        if let known = request.headers[.ifNoneMatch], ResourceVersion.matches(known, version) {
            return Response(status: .notModified, headers: keeping)
        }
        return response(bytes, image.mediaType, fileName(name, image.rawValue), keeping)
    }

    private static func response(
        _ bytes: Data, _ mediaType: String, _ fileName: String, _ keeping: HTTPFields
    ) -> Response {
        var headers = keeping
        headers[.contentType] = mediaType
        headers[.contentDisposition] = "attachment; filename=\"\(fileName)\""
        headers[.xContentTypeOptions] = "nosniff"
        headers[.contentSecurityPolicy] = "default-src 'none'; sandbox; frame-ancestors 'none'"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private static func fileName(_ name: String, _ ending: String) -> String {
        let plain = name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") ? $0 : "_" }
        return "\(String(plain)).\(ending)"
    }
}

extension ResourceField {
    /// Whether it's bytes in a column of the object's own.
    var isBytes: Bool { if case .value(_, .data) = content { true } else { false } }
    var isText: Bool { if case .value(_, .string) = content { true } else { false } }
}
