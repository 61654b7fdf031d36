import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// The demo's requests to the servers.
enum HTTP {
    static let timeout = TimeAmount.seconds(15)
    static let maximumAnswerByteCount = 4 << 20

    struct Ticket: Decodable {
        var id: String
        var name: String

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case name
        }
    }

    private struct Login: Decodable { var accessToken: String }
    private struct Tickets: Decodable { var tickets: [Ticket] }

    static func login(_ base: String, _ email: String, _ password: String) async throws -> String {
        let body = String(decoding: try JSONEncoder().encode(["email": email, "password": password]), as: UTF8.self)
        return try JSONDecoder().decode(Login.self, from: await call("POST", "\(base)/login", nil, body: body))
            .accessToken
    }

    static func tickets(_ base: String, _ event: String, _ token: String) async throws -> [Ticket] {
        try JSONDecoder().decode(Tickets.self, from: await call("GET", "\(base)/events/\(event)/tickets", token))
            .tickets
    }

    static func page(_ url: String) async throws -> String {
        String(decoding: try await call("GET", url, nil), as: UTF8.self)
    }

    /// Whether the texts appear in this order.
    static func appear(_ texts: [String], inOrderIn page: String) -> Bool {
        var rest = page[...]
        for text in texts {
            guard let range = rest.range(of: text) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }

    @discardableResult
    static func call(_ method: String, _ url: String, _ token: String?, body: String? = nil) async throws -> Data {
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: timeout)
        let answer = Data(try await response.body.collect(upTo: maximumAnswerByteCount).readableBytesView)
        guard (200..<300).contains(response.status.code) else {
            throw DemoFailure(
                "\(method) \(url) answered \(response.status.code): \(String(decoding: answer, as: UTF8.self))")
        }
        return answer
    }
}
