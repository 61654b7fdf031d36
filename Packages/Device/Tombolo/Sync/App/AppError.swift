public import Foundation

/// Why a login or another request about a user failed.
public struct AppError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Error codes, with Realm's names and numbers.
    public enum Code: Int, Hashable, Sendable, CaseIterable {
        case unknown = -1
        /// The server can't be reached, or didn't answer in time.
        case httpRequestFailed = 1
        case invalidSession = 2
        case badRequest = 3
        case userNotFound = 4
        case userAppDomainMismatch = 5
        case domainNotAllowed = 6
        case readSizeLimitExceeded = 7
        case invalidParameter = 8
        case missingParameter = 9
        case functionExecutionError = 10
        case internalServerError = 11
        case authProviderNotFound = 12
        case valueNotFound = 13
        case valueAlreadyExists = 14
        case valueDuplicateName = 15
        case functionNotFound = 16
        case functionSyntaxError = 17
        case functionInvalid = 18
        case apiKeyAlreadyExists = 19
        case executionTimeLimitExceeded = 20
        case notCallable = 21
        case userAlreadyConfirmed = 22
        case userDisabled = 23
        case authError = 24
        case accountNameInUse = 25
        case invalidPassword = 26
        case maintenanceInProgress = 27
        case mongoDBError = 28

        /// The code for a name on the wire, which is the case's name.
        init(name: String) {
            self = Self.allCases.first { "\($0)" == name } ?? .unknown
        }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What was wrong and what to do.
    public let message: String
    /// Whether the account has a second factor, so that the call must be repeated with a code for it. Not in Realm.
    public let requiresCode: Bool
    /// The HTTP status of the server's answer, or nil if there was no answer.
    let status: Int?

    init(_ code: Code, _ message: String, requiresCode: Bool = false, status: Int? = nil) {
        self.code = code
        self.message = message
        self.requiresCode = requiresCode
        self.status = status
    }

    public var description: String { message }
}

/// Gives caught errors a `localizedDescription`, and `NSError` Realm's domain and code.
extension AppError: LocalizedError, CustomNSError {
    public static var errorDomain: String { "io.realm.app" }
    public var errorCode: Int { code.rawValue }
    public var errorDescription: String? { message }
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
}
