/// Why a login failed.
public struct AppError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Hashable, Sendable {
        case invalidURL
        case unreachable
        case invalidCredentials
        case refused
    }

    /// What kind of failure it is.
    public let code: Code
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
