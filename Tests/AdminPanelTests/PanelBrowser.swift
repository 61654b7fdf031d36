import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import PostgresClient
import ServiceTestSupport
import Synchronization
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloRules

@testable import AdminPanel

/// A browser that keeps cookies, doesn't follow redirects by itself, and finds a page's form token.
final class PanelBrowser: Sendable {
    let client: any TestClientProtocol
    private let cookies = Mutex<[String: String]>([:])

    init(_ client: any TestClientProtocol) { self.client = client }

    /// Runs a panel on a fixture's database with the admin server's rights.
    /// - Parameter rules: nil for the fixture's rules, even if those in the database change.
    static func with(
        _ fixture: ServiceFixture, panel: AdminPanel? = nil, additions: PanelAdditions = PanelAdditions(),
        limits: HTTPLimits = HTTPLimits(), rules: LiveRules? = nil, keptRequests: KeptRequests? = nil,
        _ body: @Sendable (HTTPApplication, any TestClientProtocol) async throws -> Void
    ) async throws {
        let rules = rules ?? LiveRules(fixture.rules)
        let panel =
            panel
            ?? AdminPanel(
                rules: rules, pool: fixture.adminServer.pool, authenticator: fixture.adminServer.authenticator,
                models: fixture.adminModels, additions: additions)
        let app = buildAdminApplication(
            host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: rules, models: fixture.adminModels,
            authenticator: fixture.adminServer.authenticator, limits: limits, keptRequests: keptRequests,
            languages: PanelLanguages.builtIn.texts, pages: { panel.add(to: $0, with: $1) })
        try await app.test(.router) { try await body(app, $0) }
    }

    /// A browser with a logged-in user.
    static func loggedIn(_ client: any TestClientProtocol, as role: String) async throws -> PanelBrowser {
        let browser = PanelBrowser(client)
        let answer = try await browser.logIn(as: role)
        try #require(answer.status == 303, "\(answer.text)")
        return browser
    }

    @discardableResult
    func logIn(as role: String, password: String = ServiceFixture.password, next: String? = nil) async throws -> Answer
    {
        var fields = ["email": ServiceFixture.email(role), "password": password]
        fields["next"] = next
        return try await send("/panel/login", fields, token: nil, headers: [.origin: "http://localhost"])
    }

    /// Makes every session's password proof a minute too old, so everybody is asked for their password again.
    static func ageProofs(_ pool: PostgresPool) async throws {
        let seconds = PanelSession.proofSeconds * Int64(Patience.factor) + 60
        try await pool.query(
            "UPDATE tombolo.panel_session SET proved_at = proved_at - make_interval(secs => $1)",
            [.double(Double(seconds))])
    }

    func cookie(_ name: String) -> String? { cookies.withLock { $0[name] } }
    func setCookie(_ name: String, _ value: String?) { cookies.withLock { $0[name] = value } }

    func get(_ path: String, headers: HTTPFields = [:]) async throws -> Answer {
        try await call(.get, path, headers: headers)
    }

    /// Sends a form.
    /// - Parameter token: the token for the session's forms, or nil to send none.
    @discardableResult
    func send(
        _ path: String, _ fields: [String: String], token: String?, headers: HTTPFields = [:]
    ) async throws -> Answer {
        var pairs = fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if let token { pairs.append(("_token", token)) }
        var headers = headers
        headers[.contentType] = "application/x-www-form-urlencoded"
        return try await call(
            .post, path, body: pairs.map { "\(Self.encode($0))=\(Self.encode($1))" }.joined(separator: "&"),
            headers: headers)
    }

    /// Sends a form with a token from one of this session's pages.
    @discardableResult
    func post(_ path: String, _ fields: [String: String] = [:], headers: HTTPFields = [:]) async throws -> Answer {
        try await send(path, fields, token: try await formToken(), headers: headers)
    }

    /// Sends a form that may repeat field names, with a token from one of this session's pages.
    @discardableResult
    func submit(_ path: String, _ fields: [(String, String)]) async throws -> Answer {
        let pairs = fields.filter { $0.0 != "_token" } + [("_token", try await formToken())]
        return try await call(
            .post, path, body: pairs.map { "\(Self.encode($0.0))=\(Self.encode($0.1))" }.joined(separator: "&"),
            headers: [.contentType: "application/x-www-form-urlencoded"])
    }

    /// The hidden fields of the form that has most of them in the page's main content.
    static func hidden(_ page: String) -> [(String, String)] {
        let content = page.components(separatedBy: "<main").last ?? ""
        let forms = content.components(separatedBy: "<form").dropFirst().map { form in
            form.components(separatedBy: "</form>")[0].matches(
                of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/
            ).map { (String($0.1), decoded(String($0.2))) }
        }
        return forms.max { $0.count < $1.count } ?? []
    }

    static func decoded(_ text: String) -> String {
        text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }

    func formToken() async throws -> String {
        let page = try await get("/panel/help").text
        return String(try #require(page.firstMatch(of: /name="_token" value="([^"]+)"/)).1)
    }

    func call(
        _ method: HTTPRequest.Method, _ path: String, body: String? = nil, bytes: [UInt8]? = nil,
        headers others: HTTPFields = [:]
    ) async throws -> Answer {
        let response = try await exchange(method, path, body: body, bytes: bytes, headers: others)
        return Answer(status: response.status.code, text: String(buffer: response.body), headers: response.headers)
    }

    /// The bytes at an address.
    func file(_ path: String) async throws -> Data { Data(try await exchange(.get, path).body.readableBytesView) }

    private func exchange(
        _ method: HTTPRequest.Method, _ path: String, body: String? = nil, bytes: [UInt8]? = nil,
        headers others: HTTPFields = [:]
    ) async throws -> TestResponse {
        var headers = others
        let sent = cookies.withLock { $0 }
        if !sent.isEmpty, headers[.cookie] == nil {
            headers[.cookie] = sent.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        }
        if headers[.accept] == nil { headers[.accept] = "text/html,application/xhtml+xml" }
        let response = try await client.execute(
            uri: path, method: method, headers: headers,
            body: bytes.map { ByteBuffer(bytes: $0) } ?? body.map { ByteBuffer(string: $0) })
        for header in response.headers[values: .setCookie] {
            let pair = header.split(separator: ";")[0].split(separator: "=", maxSplits: 1)
            let value = pair.count > 1 ? String(pair[1]) : ""
            cookies.withLock { $0[String(pair[0])] = value.isEmpty ? nil : value }
        }
        return response
    }

    static func encode(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
