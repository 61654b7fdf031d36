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

/// Serves the bytes of a property as a file to save. Pages of the panel show images from the same address.
struct BytesPages: PanelSection {
    static func path(of type: ResourceType, id: String, _ field: ResourceField) -> String {
        "\(ClassPages.path(of: type, id: id))/bytes/\(RequestParameters.encode(field.name))"
    }

    /// The parameter that asks for a thumbnail of a given size.
    static let thumbnail = "thumbnail"

    /// The address of an image on a page. It asks for a thumbnail if the server makes any.
    static func imagePath(
        of type: ResourceType, id: String, _ field: ResourceField, _ size: Thumbnails.Size, _ core: PanelCore
    ) -> String {
        let path = path(of: type, id: id, field)
        return core.makesThumbnails ? "\(path)?\(thumbnail)=\(size.rawValue)" : path
    }

    /// Whether an attribute's bytes are an image, judging by their signature.
    static func isImage(_ json: JSON?) -> Bool {
        guard case .string(let text)? = json else { return false }
        // These characters decode to more bytes than any signature has.
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

    /// The bytes of an image for a page: the thumbnail, or the original if no thumbnail is requested or available. If
    /// the original is too large for a list, the list's request for it is refused, and the page shows the alternative
    /// text.
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

    /// A response that can't run anything in the browser. It's saved as a file unless a page's image element loads it.
    /// If the browser opens it nonetheless, it gets no scripts, forms or origin.
    ///
    /// Browsers cache images privately and revalidate them before each use, so that an image is never shown after the
    /// right to see it is gone. An unchanged image is answered with 304. Other bytes aren't cached.
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
    /// Whether the field holds bytes in a column of the object itself.
    var isBytes: Bool { if case .value(_, .data) = content { true } else { false } }
    var isText: Bool { if case .value(_, .string) = content { true } else { false } }
}
