import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloRules

@Suite struct EdgeTests {
    private struct Secret: Error, CustomStringConvertible {
        var description: String { "row 17 has password hunter2" }
    }

    @Test("An unknown path gets 404 with code, message and request ID")
    func notFound() async throws {
        try await application { _ in }.test(.router) { client in
            let response = try await client.execute(uri: "/nowhere", method: .get)
            #expect(response.status == .notFound)
            #expect(response.json["code"] == "not_found")
            #expect(response.json["message"] != nil)
            #expect(response.headers[HTTPField.Name("X-Request-Id")!] != nil)
            #expect(response.headers[.contentType] == "application/json; charset=utf-8")
        }
    }

    @Test("A wrong method gets 405 and the allowed methods")
    func wrongMethod() async throws {
        try await application {
            $0.on(.get, "/things/{id}", access: .open(because: "test")) { _, _, _ in "thing" }
            $0.on(.delete, "/things/{id}", access: .open(because: "test")) { _, _, _ in "gone" }
        }.test(.router) { client in
            let response = try await client.execute(uri: "/things/1", method: .post)
            #expect(response.status == .methodNotAllowed)
            #expect(response.headers[.allow] == "DELETE, GET, HEAD")
            #expect(response.json["hint"] == "Use DELETE or GET or HEAD.")
            #expect(try await client.execute(uri: "/things", method: .get).status == .notFound)
            #expect(try await client.execute(uri: "/things/1/2", method: .get).status == .notFound)
            #expect(try await client.execute(uri: "/things/1", method: .head).status == .ok)
        }
    }

    @Test("An unexpected error is logged in full and reveals nothing to the client")
    func unexpectedError() async throws {
        let log = LogRecorder()
        try await application(log: log) {
            $0.on(.get, "/fails", access: .open(because: "test")) { _, _, _ -> String in throw Secret() }
        }.test(.router) { client in
            let response = try await client.execute(uri: "/fails", method: .get)
            #expect(response.status == .internalServerError)
            #expect(response.json["code"] == "internal_error")
            #expect(!String(buffer: response.body).contains("hunter2"))
        }
        #expect(log.text.contains("row 17"))
    }

    @Test("The log has the route and status, but no query, header or body")
    func log() async throws {
        let log = LogRecorder()
        try await application(log: log) {
            $0.on(.post, "/things/{id}", access: .open(because: "test")) { _, _, _ in "ok" }
        }.test(.router) { client in
            _ = try await client.execute(
                uri: "/things/abc?token=querysecret", method: .post,
                headers: [.authorization: "Bearer headersecret", .cookie: "cookiesecret"],
                body: ByteBuffer(string: "bodysecret"))
        }
        let line = try #require(log.text.split(separator: "\n").last { $0.contains("request") })
        #expect(line.contains("/things/{id}"))
        #expect(line.contains("200"))
        #expect(!log.text.contains("secret"))
    }

    @Test(
        "Requests by monitors are logged at debug level unless they fail", arguments: ["/health", "/ready", "/metrics"])
    func monitoring(path: String) async throws {
        for (fails, level) in [(false, "debug"), (true, "error")] {
            let log = LogRecorder()
            try await application(log: log) {
                $0.on(.get, path, access: .open(because: "test")) { _, _, _ -> String in
                    if fails { throw RequestFailure(.unavailable, "Not now.") }
                    return "ok"
                }
                $0.on(.get, "/other", access: .open(because: "test")) { _, _, _ in "ok" }
            }.test(.router) { client in
                _ = try await client.execute(uri: path, method: .get)
                _ = try await client.execute(uri: "/other", method: .get)
            }
            let lines = log.text.split(separator: "\n").filter { $0.contains("request") }
            #expect(lines.contains { $0.hasPrefix(level) && $0.contains(path) })
            #expect(lines.contains { $0.hasPrefix("info") && $0.contains("/other") })
        }
    }

    @Test(
        "A bad body is refused with the reason",
        arguments: [
            ("", "application/json", 400, "empty"), ("{", "application/json", 400, "not valid JSON"),
            ("[1]", "application/json", 400, "not a"),
            (#"{"name": 1}"#, "application/json", 400, "'name' is not a string"),
            ("{}", "application/json", 400, "'name' is missing"),
            (#"{"name": null}"#, "application/json", 400, "'name' is null"),
            (#"{"name": "\ud800"}"#, "application/json", 400, ""),
            (#"{"name": "x", "name": "y"}"#, "application/json", 400, "'name' twice"),
            ("{\"name\": \"x\", \"é\": 1, \"e\u{301}\": 2}", "application/json", 400, "twice in one object"),
            (String(repeating: "[", count: 100_000), "application/json", 413, "too long"),
            (String(repeating: "[", count: 9_000), "application/json", 400, ""),
            (#"{"name": "x"}"#, "text/plain", 415, "must be JSON"), (#"{"name": "x"}"#, nil, 415, "must be JSON"),
            (#"{"name": "x"}"#, "application/json; charset=utf-8", 200, ""),
        ])
    func badBodies(
        body: String, type: String?, status: Int, text: String
    ) async throws {
        struct Body: Decodable { var name: String }
        try await application {
            $0.on(.post, "/", access: .open(because: "test")) { request, context, _ in
                try await request.json(Body.self, context).name
            }
        }.test(.router) { client in
            var headers: HTTPFields = [:]
            headers[.contentType] = type
            let response = try await client.execute(
                uri: "/", method: .post, headers: headers, body: ByteBuffer(string: body))
            #expect(response.status.code == status)
            #expect(text.isEmpty || String(buffer: response.body).contains(text), "\(String(buffer: response.body))")
        }
    }

    @Test("A body over the limit gets 413")
    func bodyLimit() async throws {
        var limits = HTTPLimits.patient
        limits.bodyBytes = 10
        try await application(limits: limits) {
            $0.on(.post, "/", access: .open(because: "test")) { request, context, _ in
                JSONAnswer(try await request.json(JSON.self, context))
            }
        }.live { port in
            try await PatientClient.with(port) { call in
                // The client declares the length; the parser cuts off a body that exceeds it.
                for (body, status) in [(#"["0123456789"]"#, 413), ("[1]", 200)] {
                    let answer = try await call(.post, "/", headers: [.contentType: "application/json"], body: body)
                    #expect(answer.status == status, "\(answer.text)")
                }
            }
        }
    }

    @Test("A request that takes too long gets 503 and Retry-After")
    func timeout() async throws {
        var limits = HTTPLimits()
        limits.requestTimeout = .milliseconds(20)
        try await application(limits: limits) {
            $0.on(.get, "/slow", access: .open(because: "test")) { _, _, _ in
                try await Task.sleep(for: .seconds(600))
                return "never"
            }
        }.test(.router) { client in
            let response = try await client.execute(uri: "/slow", method: .get)
            #expect(response.status == .serviceUnavailable)
            #expect(response.json["code"] == "timeout")
            #expect(response.headers[.retryAfter] != nil)
        }
    }

    @Test("A browser gets an HTML page, with hostile text escaped")
    func pages() async throws {
        try await application {
            $0.on(.get, "/fails", access: .open(because: "test")) { _, _, _ -> String in
                throw RequestFailure(.notFound, #"No "<script>alert(1)</script>" here"#)
            }
        }.test(.router) { client in
            let response = try await client.execute(
                uri: "/fails", method: .get, headers: [.accept: "text/html,application/xhtml+xml"])
            #expect(response.status == .notFound)
            #expect(response.headers[.contentType] == "text/html; charset=utf-8")
            #expect(response.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
            #expect(!String(buffer: response.body).contains("<script>"))
        }
    }

    @Test("A server whose port is in use says so on start")
    func takenPort() async throws {
        let first = application { _ in }
        try await first.live { port in
            let second = HTTPApplication(
                name: "second", host: "127.0.0.1", port: port, logger: LogRecorder().logger,
                identify: { _ in .anonymous }, register: { _ in })
            let error = await #expect(throws: ServerStartError.self) { try await second.run() }
            #expect(error?.description.contains("port \(port): another program uses the port") == true)
        }
    }

    @Test("Combining marks don't hide characters from HTML escaping")
    func escaping() {
        #expect(HTMLPage.escape("\"\u{301}<\u{338}&'>") == "&quot;\u{301}&lt;\u{338}&amp;&#39;&gt;")
    }
}
