import Foundation
import TomboloModel

/// An account that logs in again and again on the same device.
struct LoginAccount: Sendable {
    static let password = "a password for benchmarks"

    let email: String
    /// The body of the login request.
    let credentials: Data

    init(number: Int) throws {
        email = "login-\(number)@example.org"
        credentials = try JSONEncoder().encode(
            Request(
                email: email, password: Self.password,
                device: Request.Device(id: ObjectId.generate().stringValue, name: "bench")))
    }

    /// The body of `POST /login`.
    private struct Request: Encodable {
        struct Device: Encodable {
            var id: String
            var name: String
        }

        var email: String
        var password: String
        var device: Device
    }
}
