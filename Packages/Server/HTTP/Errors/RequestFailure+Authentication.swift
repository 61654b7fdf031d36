public import TomboloAuthentication

extension RequestFailure {
    /// Login and token errors; their texts are fit for clients.
    public init(_ error: AuthenticationError) {
        let hint = "Log in with POST /login."
        switch error {
        case .wrongCredentials: self.init(.wrongCredentials, error.description)
        case .tooManyAttempts(let seconds):
            self.init(.tooManyRequests, error.description)
            retryAfterSeconds = seconds
        case .busy: self.init(.unavailable, error.description)
        case .invalidToken, .expiredToken, .revokedToken, .unknownUser:
            self.init(.unauthenticated, error.description, hint: hint)
        case .invalidEmail, .invalidPassword, .invalidDisplayName, .invalidCustomData:
            self.init(.unprocessable, error.description)
        case .emailTaken: self.init(.conflict, error.description, properties: ["email"])
        case .weakSecret: self.init(.internalError, "The server is not set up.", cause: error)
        }
    }
}
