import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A user's browser on the panel of an admin server process.
struct PanelClient: Sendable {
    let url: String
    private let cookie: String

    /// Doesn't follow redirects: a login answers with a redirect and with a cookie that only this client keeps. Lives
    /// as long as the process.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Logs in.
    init(_ url: String, email: String, password: String) async throws {
        self.url = url
        var request = HTTPClientRequest(url: "\(url)/panel/login")
        request.method = .POST
        request.headers.add(name: "Origin", value: url)
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(ByteBuffer(string: "email=\(Self.encode(email))&password=\(Self.encode(password))"))
        let response = try await Self.client.execute(request, timeout: .seconds(120))
        guard let header = response.headers.first(name: "Set-Cookie"), let pair = header.split(separator: ";").first
        else { throw EndToEndFailure("Nobody is logged in to the panel: \(response.status)") }
        cookie = String(pair)
    }

    func get(_ path: String) async throws -> (status: Int, text: String) {
        var request = HTTPClientRequest(url: url + path)
        request.headers.add(name: "Cookie", value: cookie)
        request.headers.add(name: "Accept", value: "text/html")
        let response = try await Self.client.execute(request, timeout: .seconds(120))
        let body = try await response.body.collect(upTo: 4 << 20)
        return (Int(response.status.code), String(buffer: body))
    }

    /// Submits the form of a page that has only a button.
    /// - Parameter page: the page with the form, for its token.
    /// - Returns: the answer's status.
    func press(_ path: String, on page: String) async throws -> Int {
        let text = try await get(page).text
        guard let token = text.firstMatch(of: /name="_token" value="([^"]+)"/)?.output.1 else {
            throw EndToEndFailure("\(page) has no form: \(text.suffix(2_000))")
        }
        var request = HTTPClientRequest(url: url + path)
        request.method = .POST
        request.headers.add(name: "Origin", value: url)
        request.headers.add(name: "Cookie", value: cookie)
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(ByteBuffer(string: "_token=\(Self.encode(String(token)))"))
        let response = try await Self.client.execute(request, timeout: .seconds(120))
        return Int(response.status.code)
    }

    /// Opens a page's event stream and reads it until it has reported this many changes.
    /// - Parameter each: runs when the stream begins and after each change, with the number of changes so far.
    /// - Returns: everything that arrived.
    func changes(_ path: String, count: Int, _ each: (Int) async throws -> Void) async throws -> String {
        var request = HTTPClientRequest(url: url + path)
        request.headers.add(name: "Cookie", value: cookie)
        request.headers.add(name: "Accept", value: "text/event-stream")
        // Limits the whole stream.
        let response = try await Self.client.execute(request, timeout: .seconds(240))
        guard response.status == .ok else { throw EndToEndFailure("There is no stream \(path): \(response.status)") }
        var text = ""
        var told = -1
        for try await part in response.body {
            text += String(buffer: part)
            // The stream begins with the reconnection delay.
            let found = text.components(separatedBy: "event: changed\n").count - 1
            while told < found {
                told += 1
                try await each(told)
            }
            if told >= count { return text }
        }
        throw EndToEndFailure("The stream ended after \(max(told, 0)) changes: \(text)")
    }

    static func encode(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
