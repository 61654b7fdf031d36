public import HTTPTypes

extension RequestFailure {
    /// A code that client programs may branch on. The list may grow.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// 400: the request is malformed: broken JSON, an invalid id.
        public static let badRequest = Code(rawValue: "bad_request")
        /// 401: no access token, or one that isn't valid (any more).
        public static let unauthenticated = Code(rawValue: "unauthenticated")
        /// 401: e-mail and password don't match.
        public static let wrongCredentials = Code(rawValue: "wrong_credentials")
        /// 403: the caller is known, but not permitted.
        public static let forbidden = Code(rawValue: "forbidden")
        /// 403: the caller must enter the password again, because the last time was too long ago.
        public static let passwordRequired = Code(rawValue: "password_required")
        /// 403: a second factor is required, and the login was made without one.
        public static let secondFactorRequired = Code(rawValue: "second_factor_required")
        /// 404: the thing doesn't exist, or the caller may not know of it.
        public static let notFound = Code(rawValue: "not_found")
        /// 405: the path exists, but not with this method.
        public static let methodNotAllowed = Code(rawValue: "method_not_allowed")
        /// 406: the caller doesn't accept the answer's type.
        public static let notAcceptable = Code(rawValue: "not_acceptable")
        /// 409: the state of the data forbids it.
        public static let conflict = Code(rawValue: "conflict")
        /// 412: the object's version isn't the one that the request names.
        public static let preconditionFailed = Code(rawValue: "precondition_failed")
        /// 428: the request must name the version that it applies to.
        public static let preconditionRequired = Code(rawValue: "precondition_required")
        /// 413: the body is longer than ``HTTPLimits/bodyBytes``.
        public static let tooLarge = Code(rawValue: "too_large")
        /// 415: the body isn't declared as JSON.
        public static let unsupportedMediaType = Code(rawValue: "unsupported_media_type")
        /// 422: well-formed, but makes no sense.
        public static let unprocessable = Code(rawValue: "unprocessable")
        /// 429: too many attempts; try later.
        public static let tooManyRequests = Code(rawValue: "too_many_requests")
        /// 500: the server's fault.
        public static let internalError = Code(rawValue: "internal_error")
        /// 503: the database or another part doesn't answer; the same request may succeed later.
        public static let unavailable = Code(rawValue: "unavailable")
        /// 503: the request took longer than ``HTTPLimits/requestTimeout``.
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

        /// The HTTP status; 500 for codes that the edge doesn't know.
        public var status: HTTPResponse.Status { Self.statuses[self] ?? .internalServerError }

        /// Whether the same request may succeed later, unchanged.
        public var canRetry: Bool { self == .unavailable || self == .timeout || self == .tooManyRequests }
    }
}
