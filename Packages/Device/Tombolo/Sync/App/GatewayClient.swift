internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import TomboloWebSocket

/// Sends the gateway requests about users, with JSON in both directions.
struct GatewayClient: Sendable {
    /// The maximum size of an answer in bytes.
    static let maximumAnswerByteCount = 256 << 10

    let configuration: AppConfiguration

    /// The response to a login or a token refresh.
    struct Login: Decodable {
        var accessToken: String
        var expiresAt: Date?
        var refreshToken: String?
        var userID: String
        var deviceID: String?
        var provider: String?
    }

    struct Account: Decodable {
        struct Identity: Decodable {
            var provider: String
            var identifier: String
        }
        var userID: String
        var name: String?
        var email: String?
        var identities: [Identity]
        var profile: [String: AnyBSON]?
        var customData: [String: AnyBSON]?
    }

    private struct Failure: Decodable {
        /// The error code of an account with a second factor, for requests that accept a code for it.
        static let codeRequired = "second_factor_required"

        var code: String?
        var message: String
        var hint: String?
        var error: String?
    }

    private struct Nothing: Decodable {}

    /// Sends a request and ignores the content of the response.
    func send(_ method: HTTPMethod, _ path: String, _ body: [String: AnyBSON]? = nil, token: String? = nil) async throws
    {
        _ = try await data(method, path, body, token)
    }

    /// Sends a request and decodes the answer.
    /// - Throws: ``AppError``.
    func get<Answer: Decodable>(
        _ type: Answer.Type = Answer.self, _ method: HTTPMethod, _ path: String, _ body: [String: AnyBSON]? = nil,
        token: String? = nil
    ) async throws -> Answer {
        let answer = try await data(method, path, body, token)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do {
            return try decoder.decode(Answer.self, from: answer)
        } catch {
            throw AppError(.internalServerError, "The server at \(try configuration.url()) isn't a Tombolo gateway.")
        }
    }

    /// The languages that the device's user likes best, as requests name them: mails that come of a request are in one of them.
    /// - Returns: nil for none.
    static func acceptLanguage(_ languages: [String]) -> String? {
        let tags = languages.filter { tag in
            !tag.isEmpty && tag.allSatisfy { $0 == "-" || $0.isASCII && ($0.isLetter || $0.isNumber) }
        }
        let parts = tags.prefix(5).enumerated().map { $0 == 0 ? $1 : "\($1);q=0.\(10 - 2 * $0)" }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private func data(
        _ method: HTTPMethod, _ path: String, _ body: [String: AnyBSON]?, _ token: String?
    ) async throws -> Data {
        let url = try configuration.url().appending(path: path)
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = method
        if let trusted = configuration.trustedCertificates {
            request.tlsConfiguration = TLSClient.configuration(trusting: trusted.path(percentEncoded: false))
        }
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let languages = Self.acceptLanguage(Locale.preferredLanguages) {
            request.headers.add(name: "Accept-Language", value: languages)
        }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            do {
                request.body = .bytes(try JSONEncoder().encode(body))
            } catch {
                throw AppError(.badRequest, "Can't send the document: JSON can't represent NaN or infinite numbers.")
            }
        }
        let response: HTTPClientResponse
        let answer: Data
        do {
            response = try await HTTPClient.shared.execute(
                request, timeout: .milliseconds(Int64(configuration.defaultRequestTimeoutMS)))
            answer = Data(try await response.body.collect(upTo: Self.maximumAnswerByteCount).readableBytesView)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            if let reason = TLSClient.reason(error, host: url.host() ?? "") {
                throw AppError(.httpRequestFailed, "Can't reach the gateway at \(url): \(reason)")
            }
            throw AppError(.httpRequestFailed, "Can't reach the gateway at \(url): \(error). Is it running?")
        }
        guard (200..<300).contains(response.status.code) else {
            let status = Int(response.status.code)
            guard let failure = try? JSONDecoder().decode(Failure.self, from: answer) else {
                throw AppError(
                    .internalServerError, "The gateway at \(url) answered with status \(status).", status: status)
            }
            throw AppError(
                failure.error.map(AppError.Code.init(name:)) ?? .unknown,
                [failure.message, failure.hint].compactMap { $0 }.joined(separator: " "),
                requiresCode: failure.code == Failure.codeRequired, status: status)
        }
        return answer
    }
}
