import HTTPTypes
import Hummingbird
import NIOCore
import TomboloHTTP
import TomboloModel

/// An answer: a JSON:API document, or none.
struct JSONAPIDocument: ResponseGenerator, Sendable {
    let status: HTTPResponse.Status
    let bytes: [UInt8]
    var headers: HTTPFields

    init(_ json: JSONBytes, status: HTTPResponse.Status = .ok, contentType: String = JSONAPIMediaType.name) {
        bytes = json.bytes
        self.status = status
        headers = [.contentType: contentType]
    }

    /// An answer without a body.
    static let noContent = JSONAPIDocument(status: .noContent)

    private init(status: HTTPResponse.Status) {
        bytes = []
        self.status = status
        headers = [:]
    }

    /// The version of the whole document.
    var version: String { ResourceVersion(of: bytes[...]).text }

    /// The answer with an ETag, or 304 if the caller has this version.
    /// - Parameter version: nil for the version of the whole document.
    func validated(for request: Request, version: String? = nil) -> JSONAPIDocument {
        let version = version ?? self.version
        var document = self
        if let header = request.headers[.ifNoneMatch], ResourceVersion.matches(header, version) {
            document = JSONAPIDocument(status: .notModified)
        }
        document.headers[.eTag] = "\"\(version)\""
        // Others may see something else, and clients must revalidate what they have each time.
        document.headers[.cacheControl] = "private, no-cache"
        document.headers[.vary] = "Accept, Authorization"
        return document
    }

    func response(from request: Request, context: some RequestContext) -> Response {
        Response(
            status: status, headers: headers,
            body: bytes.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

// MARK: Members

extension JSONBytes {
    /// The beginning of a document: `{"jsonapi":{"version":"1.1"},"links":{…}`.
    mutating func beginDocument(links: [(name: String, address: String?)]) {
        append("{\"jsonapi\":{\"version\":\"1.1\"},\"links\":{")
        for (index, link) in links.enumerated() {
            if index > 0 { append(",") }
            append(string: link.name)
            append(":")
            if let address = link.address { append(string: address) } else { append(null: ()) }
        }
        append("}")
    }

    /// `,"data":[…]`
    mutating func append(data resources: [ResourceReader.Resource]) throws {
        append(",\"data\":")
        try append(list: resources)
    }

    /// `,"included":[…]`
    mutating func append(included resources: [ResourceReader.Resource]) throws {
        append(",\"included\":")
        try append(list: resources)
    }

    private mutating func append(list resources: [ResourceReader.Resource]) throws {
        append("[")
        for (index, resource) in resources.enumerated() {
            if index > 0 { append(",") }
            try resource.plan.write(resource.row, to: &self)
        }
        append("]")
    }
}
