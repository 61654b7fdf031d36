internal import Foundation

/// Asks an installation's own function whom a payload identifies. The request is `POST {"payload": {…}}`. The function
/// answers with 200 and `{"userID": "…", "name": "…", "profile": {…}}`, in which `name` and `profile` are optional, or
/// with 401, 403 or 404 for nobody.
struct CustomFunction: Sendable {
    static let maximumPayloadByteCount = 16 << 10

    private struct Answer: Decodable {
        let userID: String
        let name: String?
        let profile: [String: String]?
    }

    private let settings: FunctionSettings

    init(_ settings: FunctionSettings) { self.settings = settings }

    /// - Parameter payload: the text of a JSON object.
    /// - Throws: ``AuthenticationError/wrongCredentials`` if it identifies nobody,
    ///   ``AuthenticationError/functionFailed`` if the function doesn't answer as it should.
    func ask(_ payload: String) async throws -> Authenticator.Outsider {
        guard payload.utf8.count <= Self.maximumPayloadByteCount else { throw AuthenticationError.wrongCredentials }
        let answer: OutgoingRequest.Answer
        do {
            answer = try await OutgoingRequest(
                url: settings.url, body: Array(#"{"payload":\#(payload)}"#.utf8), bearer: settings.secret,
                timeoutSeconds: settings.timeoutSeconds ?? 5, maximumByteCount: 64 << 10
            ).send()
        } catch AuthenticationError.unreachable {
            throw AuthenticationError.functionFailed
        }
        if [401, 403, 404].contains(answer.status) { throw AuthenticationError.wrongCredentials }
        guard answer.status == 200, let found = try? JSONDecoder().decode(Answer.self, from: Data(answer.body)),
            (1...ProviderSchema.maximumIdentifierByteCount).contains(found.userID.utf8.count),
            !found.userID.utf8.contains(0), !(found.name ?? "").utf8.contains(0),
            (found.name ?? "").utf8.count <= AccountRegistry.maximumDisplayNameByteCount,
            (found.profile ?? [:]).allSatisfy({ !$0.key.utf8.contains(0) && !$0.value.utf8.contains(0) }),
            (found.profile ?? [:]).count <= IssuerSettings.maximumProfileCount
        else { throw AuthenticationError.functionFailed }
        return Authenticator.Outsider(identifier: found.userID, name: found.name, profile: found.profile ?? [:])
    }
}
