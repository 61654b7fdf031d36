public import HTTPTypes

extension RequestFailure {
    /// What a client program may branch on. The list may grow.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// 400: the request is not well formed: broken JSON, an id that is none.
        public static let badRequest = Code(rawValue: "bad_request")
        /// 401: no access token, or one that is not valid (any more).
        public static let unauthenticated = Code(rawValue: "unauthenticated")
        /// 401: e-mail and password do not belong together.
        public static let wrongCredentials = Code(rawValue: "wrong_credentials")
        /// 403: known, but not allowed.
        public static let forbidden = Code(rawValue: "forbidden")
        /// 403: it takes the password again, which was proved too long ago.
        public static let passwordRequired = Code(rawValue: "password_required")
        /// 403: it takes a second factor, which the login was made without.
        public static let secondFactorRequired = Code(rawValue: "second_factor_required")
        /// 404: there is no such thing, or the caller may not know of it.
        public static let notFound = Code(rawValue: "not_found")
        /// 405: the path exists, with other methods.
        public static let methodNotAllowed = Code(rawValue: "method_not_allowed")
        /// 406: the caller takes no answer of the type that there is.
        public static let notAcceptable = Code(rawValue: "not_acceptable")
        /// 409: the state of the data forbids it.
        public static let conflict = Code(rawValue: "conflict")
        /// 412: the thing has another version than the one that the request is about.
        public static let preconditionFailed = Code(rawValue: "precondition_failed")
        /// 428: the request has to say which version it is about.
        public static let preconditionRequired = Code(rawValue: "precondition_required")
        /// 413: the body is longer than ``HTTPLimits/bodyBytes``.
        public static let tooLarge = Code(rawValue: "too_large")
        /// 415: the body is not declared as JSON.
        public static let unsupportedMediaType = Code(rawValue: "unsupported_media_type")
        /// 422: well formed, and makes no sense.
        public static let unprocessable = Code(rawValue: "unprocessable")
        /// 429: too many attempts; try later.
        public static let tooManyRequests = Code(rawValue: "too_many_requests")
        /// 500: our fault.
        public static let internalError = Code(rawValue: "internal_error")
        /// 503: the database or another part does not answer; the same request may succeed later.
        public static let unavailable = Code(rawValue: "unavailable")
        /// 503: it took longer than ``HTTPLimits/requestTimeout``.
        public static let timeout = Code(rawValue: "timeout")

        private static let statuses: [Code: HTTPResponse.Status] = [
            .badRequest: .badRequest, .unauthenticated: .unauthorized, .wrongCredentials: .unauthorized,
            .forbidden: .forbidden, .passwordRequired: .forbidden, .secondFactorRequired: .forbidden,
            .notFound: .notFound,
            .methodNotAllowed: .methodNotAllowed, .conflict: .conflict,
            .notAcceptable: .notAcceptable,
            .preconditionFailed: .preconditionFailed, .preconditionRequired: .preconditionRequired,
            .tooLarge: .contentTooLarge, .unsupportedMediaType: .unsupportedMediaType,
            .unprocessable: .unprocessableContent, .tooManyRequests: .tooManyRequests,
            .unavailable: .serviceUnavailable, .timeout: .serviceUnavailable,
        ]

        /// The HTTP status; 500 for codes that the edge does not know.
        public var status: HTTPResponse.Status { Self.statuses[self] ?? .internalServerError }

        /// Whether the same request may succeed later without being changed.
        public var canRetry: Bool { self == .unavailable || self == .timeout || self == .tooManyRequests }
    }
}
