import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// The HTTP API of a SUSI server.
struct SusiServer: Sendable {
    /// The most bytes of an answer, including one read from a file.
    static let maximumAnswerByteCount = 64 << 20

    private let base: URL
    private let accessToken: String?
    private let timeout: Duration

    /// - Throws: ``SusiError`` if the address isn't valid.
    init(address: String, accessToken: String?, timeout: Duration) throws {
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false, url.query() == nil, url.fragment() == nil
        else {
            throw SusiError("'\(address)' isn't a server address: expected http://host:port or https://host.")
        }
        base = url
        self.accessToken = accessToken
        self.timeout = timeout
    }

    /// Asks a question and returns the answer.
    /// - Throws: ``SusiError`` if the server can't be reached or doesn't answer.
    func chat(_ question: String) async throws -> Data {
        try await get(
            "susi/chat.json",
            [
                ("q", question), ("timezoneOffset", String(-TimeZone.current.secondsFromGMT() / 60)),
                ("language", Locale.current.language.languageCode?.identifier ?? "en"),
            ])
    }

    /// The user's history.
    /// - Throws: ``SusiError`` if the server can't be reached or doesn't answer.
    func memory() async throws -> Data { try await get("susi/memory.json", []) }

    /// A server that refuses a connection isn't retried, so that the user finds out immediately.
    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    private func get(_ path: String, _ parameters: [(String, String)]) async throws -> Data {
        var parameters = parameters
        if let accessToken { parameters.append(("access-token", accessToken)) }
        let query = parameters.map { "\($0.0)=\(Self.escape($0.1))" }.joined(separator: "&")
        let place = base.appending(path: path).absoluteString
        let request = HTTPClientRequest(url: query.isEmpty ? place : "\(place)?\(query)")
        do {
            return try await withThrowingTaskGroup(of: Data.self) { group in
                group.addTask {
                    try await HTTPClient.withHTTPClient(configuration: Self.configuration) { client in
                        // The other task enforces the time limit.
                        let response = try await client.execute(request, deadline: .distantFuture)
                        guard response.status == .ok else {
                            throw SusiError("\(place) answered with status \(response.status.code).")
                        }
                        let body = try await response.body.collect(upTo: Self.maximumAnswerByteCount)
                        return Data(body.readableBytesView)
                    }
                }
                group.addTask {
                    try await Task.sleep(for: timeout)
                    throw SusiError("\(place) didn't answer within \(timeout).")
                }
                defer { group.cancelAll() }
                return try await group.next() ?? Data()
            }
        } catch let error as SusiError {
            throw error
        } catch is NIOTooManyBytesError {
            throw SusiError("\(place) answered with more than \(Self.maximumAnswerByteCount) bytes.")
        } catch {
            throw SusiError("Can't reach \(place): \(error). Is this device online?")
        }
    }

    /// Escapes everything that isn't unreserved (RFC 3986, section 2.3).
    private static func escape(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
