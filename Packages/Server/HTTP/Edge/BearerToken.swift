import HTTPTypes
import Hummingbird

/// The access token of a request (RFC 6750, section 2.1). Only the header counts, never the address: addresses end up
/// in logs.
enum BearerToken {
    /// Longer tokens aren't looked at, in bytes.
    static let lengthLimit = 4_096

    /// - Throws: ``RequestFailure`` with status 401 if there is none.
    static func of(_ request: Request) throws -> String {
        let values = request.headers[values: .authorization]
        guard let value = values.first else {
            throw refusal(
                "This needs an access token.",
                hint: "Log in with POST /login and send the header Authorization: Bearer TOKEN.")
        }
        // Split by bytes: by characters it would take longer than everything else about a token that is known.
        let parts = value.utf8.split(separator: UInt8(ascii: " ")).map { Substring($0) }
        guard values.count == 1, parts.count == 2, parts[0].lowercased() == "bearer",
            parts[1].utf8.count <= lengthLimit
        else {
            throw refusal(
                "The Authorization header is not of the form 'Bearer TOKEN'.",
                hint: "Log in with POST /login and send the accessToken of its answer.")
        }
        return String(parts[1])
    }

    private static func refusal(_ message: String, hint: String) -> RequestFailure {
        var failure = RequestFailure(.unauthenticated, message, hint: hint)
        failure.appError = .invalidSession
        return failure
    }
}
