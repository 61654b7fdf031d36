import Crypto
import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import ServiceTestSupport
import Synchronization
import Testing
import TomboloHTTP
import TomboloModel

@testable import TomboloAuthentication

/// A third party's server: it has a key set and a function that vouches for users.
private final class OutsideService: Sendable {
    private struct Payload: Decodable {
        struct Content: Decodable { var badge: String? }
        var payload: Content
    }

    let keys = Mutex("")
    let secrets = Mutex<[String]>([])
    /// Slow requests aren't answered until this is set.
    private let isOver = Mutex(false)

    func with(_ body: @escaping @Sendable (_ address: String) async throws -> Void) async throws {
        var logger = Logger(label: "outside")
        logger.logLevel = .critical
        let app = HTTPApplication(
            name: "outside", host: "127.0.0.1", port: 0, logger: logger,
            identify: { _ in throw RequestFailure(.unauthenticated, "no") }
        ) { routes in
            routes.on(.get, "/keys", access: .open(because: "keys are public")) { _, _, _ in
                JSONAnswer(try JSONDecoder().decode(JSON.self, from: Data(self.keys.withLock { $0 }.utf8)))
            }
            routes.on(.get, "/huge", access: .open(because: "a test")) { _, _, _ in
                JSONAnswer(["keys": String(repeating: "x", count: 1 << 20)])
            }
            routes.on(.post, "/function", access: .open(because: "a test")) { request, context, _ in
                self.secrets.withLock { $0.append(request.headers[.authorization] ?? "none") }
                let badge = try await request.json(Payload.self, context).payload.badge
                guard badge != "slow" else {
                    while !self.isOver.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
                    throw RequestFailure(.unavailable, "slow")
                }
                guard badge != "broken" else { return JSONAnswer(["something": "else"]) }
                guard let badge, badge.hasPrefix("badge-") else { throw RequestFailure(.forbidden, "no") }
                return JSONAnswer(["userID": badge, "name": "Ann of \(badge)"])
            }
        }
        try await app.live { port in
            defer { self.isOver.withLock { $0 = true } }
            try await body("http://127.0.0.1:\(port)")
        }
    }
}

@Suite struct OutsideServiceTests {
    private let now = Date()

    @Test("a token of a configured issuer logs in to one account, whose profile follows the token")
    func issuer() async throws {
        try await AccountPlace.with { place in
            let key = P256.Signing.PrivateKey()
            let point = Array(key.publicKey.x963Representation.dropFirst())
            let outside = OutsideService()
            outside.keys.withLock {
                $0 =
                    #"{"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":"\#(Array(point.prefix(32)).base64URL)","#
                    + #""y":"\#(Array(point.suffix(32)).base64URL)"}]}"#
            }
            func token(_ subject: String, picture: String) throws -> String {
                let claims =
                    #"{"iss":"school","aud":"app","sub":"\#(subject)","exp":\#(Int(now.timeIntervalSince1970) + 3_600),"#
                    + #""name":"Ann","picture":"\#(picture)"}"#
                let text = "\(Array(#"{"alg":"ES256","kid":"k"}"#.utf8).base64URL).\(Array(claims.utf8).base64URL)"
                return "\(text).\(Array(try key.signature(for: Data(text.utf8)).rawRepresentation).base64URL)"
            }
            let tokens = [
                try token("pupil", picture: "a.png"), try token("pupil", picture: "b.png"),
                try token("other", picture: "c"),
            ]
            try await outside.with { address in
                try await place.switchOn(
                    "custom-token",
                    #"{"jwksURL": "\#(address)/keys", "issuers": ["school"], "audiences": ["app"], "#
                        + #""algorithms": ["ES256"], "profile": {"pictureURL": "picture"}}"#)
                try await AccountClient.with(place) { call in
                    func login(_ token: String) async throws -> AccountClient.Answer {
                        try await call(.post, "/login", #"{"provider": "custom-token", "token": "\#(token)"}"#)
                    }
                    var first = try await login(tokens[0])
                    // Retry if the keys didn't arrive in time; for a while after that the server doesn't fetch them
                    // again.
                    for _ in 0..<600 where first.status == 503 {
                        try await Task.sleep(for: .milliseconds(500))
                        first = try await login(tokens[0])
                    }
                    #expect(first.status == 200, "\(first.text)")
                    let second = try await login(tokens[1])
                    #expect(second["userID"] == first["userID"])
                    let account = try await call(.get, "/account", token: second["accessToken"])
                    #expect(account["name"] == "Ann" && account.json["profile"]?["pictureURL"]?.text == "b.png")
                    #expect(account.json["identities"]?.list.first?["identifier"]?.text == "pupil")
                    let other = try await login(tokens[2])
                    #expect(other["userID"] != first["userID"])
                    // An identity that belongs to another account stays there.
                    let taken = try await call(
                        .post, "/link", token: other["accessToken"],
                        #"{"provider": "custom-token", "token": "\#(tokens[0])"}"#)
                    #expect(taken.status == 409 && taken["error"] == "valueAlreadyExists", "\(taken.text)")
                    let refused = try await login(tokens[0] + "x")
                    #expect(refused.status == 401 && refused["error"] == "invalidPassword", "\(refused.text)")
                }
                // This issuer sends too much.
                try await place.switchOn(
                    "custom-token-b",
                    #"{"jwksURL": "\#(address)/huge", "issuers": ["school"], "audiences": ["app"], "algorithms": ["ES256"]}"#
                )
                await #expect(throws: AuthenticationError.unreachable) {
                    try await place.authenticator.login(.token(provider: "custom-token-b", token: tokens[0]))
                }
            }
        }
    }

    @Test("a custom function says who a payload belongs to, within a time limit, if it is sent the right secret")
    func function() async throws {
        try await AccountPlace.with { place in
            let outside = OutsideService()
            try await outside.with { address in
                try await place.switchOn(
                    "custom-function", #"{"url": "\#(address)/function", "secret": "hunter2", "timeoutSeconds": 2}"#)
                try await AccountClient.with(place) { call in
                    func login(_ badge: String) async throws -> AccountClient.Answer {
                        try await call(
                            .post, "/login", #"{"provider": "custom-function", "payload": {"badge": "\#(badge)"}}"#)
                    }
                    /// Retries if the time ran out before the answer came, as may happen on a busy machine.
                    func patientLogin(_ badge: String) async throws -> AccountClient.Answer {
                        var answer = try await login(badge)
                        for _ in 0..<50 where answer.status == 503 { answer = try await login(badge) }
                        return answer
                    }
                    let first = try await patientLogin("badge-1")
                    #expect(first.status == 200, "\(first.text)")
                    let again = try await patientLogin("badge-1")
                    #expect(again.status == 200 && again["userID"] == first["userID"], "\(again.text)")
                    let second = try await patientLogin("badge-2")
                    #expect(second.status == 200 && second["userID"] != first["userID"], "\(second.text)")
                    let refused = try await patientLogin("nobody")
                    #expect(refused.status == 401 && refused["error"] == "invalidPassword", "\(refused.text)")
                    for badge in ["broken", "slow"] {
                        let failed = try await login(badge)
                        #expect(failed.status == 503 && failed["error"] == "functionExecutionError", "\(failed.text)")
                    }
                    let text = try await call(.post, "/login", #"{"provider": "custom-function", "payload": "x"}"#)
                    #expect(text.status == 400, "\(text.text)")
                }
                #expect(outside.secrets.withLock { Set($0) } == ["Bearer hunter2"])
            }
            await #expect(throws: AuthenticationError.functionFailed) {
                try await place.authenticator.login(.function(payload: "{}"))
            }
        }
    }

    @Test("a request without an answer says whether it was refused, the host was unknown, TLS failed, or time ran out")
    func failures() async throws {
        try await OutsideService().with { address in
            let slow = Array(#"{"payload": {"badge": "slow"}}"#.utf8)
            await #expect(throws: OutgoingFailure.timeout) {
                try await OutgoingRequest(url: "\(address)/function", body: slow, timeoutSeconds: 0.3).answer()
            }
            // The server doesn't speak TLS.
            let secure = address.replacing("http://", with: "https://")
            let insecure = OutgoingRequest(url: "\(secure)/function", body: slow, timeoutSeconds: 20)
            let failed = await Self.failure(unless: OutgoingFailure.timeout) { _ = try await insecure.answer() }
            #expect(failed == .insecure)
            let carrier = MailHook.http(url: "\(address)/nowhere", secret: "hunter2")
            let refusal = await Self.failure(unless: MailDeliveryError.timeout) {
                try await carrier.deliver(.test("ann@example.org"))
            }
            #expect(refusal == .refused(status: 404))
        }
        // A label of 64 characters is invalid, so no name server is asked about it.
        for (url, expected) in [
            ("https://127.0.0.1:1/", OutgoingFailure.refused),
            ("https://\(String(repeating: "x", count: 64)).invalid/", .unknownHost),
        ] {
            let request = OutgoingRequest(url: url, timeoutSeconds: 20)
            let failed = await Self.failure(unless: OutgoingFailure.timeout) { _ = try await request.answer() }
            #expect(failed == expected)
        }
    }

    /// Why `body` fails. Retries if time ran out, as may happen on a busy machine.
    private static func failure<Failure: Error & Equatable>(
        unless timeout: Failure, _ body: () async throws -> Void
    ) async -> Failure? {
        for _ in 0..<50 {
            do {
                try await body()
                return nil
            } catch let failure as Failure where failure != timeout {
                return failure
            } catch is Failure {
                continue
            } catch {
                Issue.record(error)
                return nil
            }
        }
        return timeout
    }

    @Test(
        "connection errors are told apart by their error number",
        arguments: [
            (ECONNREFUSED, OutgoingFailure.refused), (ETIMEDOUT, .timeout), (ENETUNREACH, .failed),
            (ECONNRESET, .failed),
        ])
    func numbers(_ number: CInt, _ expected: OutgoingFailure) {
        #expect(OutgoingFailure(IOError(errnoCode: number, reason: "connect")) == expected)
        #expect(OutgoingFailure(CancellationError()) == .failed)
    }

    @Test("each way a mail can fail to be delivered has its own description and hint")
    func words() {
        let errors: [MailDeliveryError] = [
            .connectionRefused, .unknownHost, .insecure, .timeout, .unreachable, .refused(status: 401),
            .refused(status: 500),
        ]
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect(Set(errors.map(\.hint)).count == errors.count)
    }

    @Test(
        "addresses that could reach into the network, or be eavesdropped on, are refused",
        arguments: [
            "http://example.org/x", "http://169.254.169.254/latest", "http://10.0.0.1", "ftp://example.org",
            "file:///etc/passwd",
            "//example.org", "", "https://", "http://127.0.0.1.example.org/", "unix:///run/x",
        ])
    func addresses(_ url: String) async {
        #expect(!OutgoingRequest.isAllowed(url))
        await #expect(throws: AuthenticationError.unreachable) { try await OutgoingRequest(url: url).send() }
    }
}
