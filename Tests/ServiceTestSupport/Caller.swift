import Foundation
public import HTTPTypes
import Hummingbird
public import HummingbirdTesting
import NIOCore
public import TomboloHTTP

/// Sends requests to an application as users of a ``ServiceFixture``.
public struct Caller: Sendable {
    let client: any TestClientProtocol
    let fixture: ServiceFixture

    public init(_ client: any TestClientProtocol, _ fixture: ServiceFixture) {
        self.client = client
        self.fixture = fixture
    }

    /// - Parameters:
    ///   - role: a role in ``ServiceFixture/users``; nil sends no token, except one in `headers`.
    ///   - body: JSON text.
    ///   - bytes: a binary body, instead of `body`.
    ///   - type: the body's content type.
    ///   - others: additional headers.
    public func callAsFunction(
        _ method: HTTPRequest.Method, _ path: String, as role: String? = nil, body: String? = nil,
        bytes: [UInt8]? = nil, type: String = "application/json", headers others: HTTPFields = [:]
    ) async throws -> Answer {
        var headers = others
        if let authorization = try await fixture.authorization(role) { headers[.authorization] = authorization }
        let content = bytes.map { ByteBuffer(bytes: $0) } ?? body.map { ByteBuffer(string: $0) }
        if content != nil { headers[.contentType] = type }
        let response = try await client.execute(uri: path, method: method, headers: headers, body: content)
        return Answer(
            status: response.status.code, text: String(buffer: response.body), headers: response.headers)
    }

    /// A route's path with its parameters filled in: an id, a collection, and the relationship `event`.
    public static func address(_ route: RouteDescription, id: String, collection: String = "sessions") -> String {
        route.path.replacing("{id}", with: id).replacing("{collection}", with: collection)
            .replacing("{relationship}", with: "event")
    }
}

public struct Answer: Sendable {
    public let status: Int
    public let text: String
    public let headers: HTTPFields

    public init(status: Int, text: String, headers: HTTPFields) {
        self.status = status
        self.text = text
        self.headers = headers
    }

    /// Null if the body isn't JSON.
    public var json: JSON {
        (try? JSONDecoder().decode(JSON.self, from: Data(text.utf8))) ?? .null
    }
}

extension JSON {
    public var list: [JSON] { if case .array(let values) = self { values } else { [] } }
    public var text: String? { if case .string(let value) = self { value } else { nil } }
    public var number: Int64? { if case .int(let value) = self { value } else { nil } }
}
