public import TomboloAuthentication

extension RequestFailure {
    /// Errors of logins, tokens and accounts. Their texts are fit for clients.
    public init(_ error: AuthenticationError) {
        let hint = "Log in with POST /login."
        switch error {
        case .wrongCredentials: self.init(.wrongCredentials, error.description)
        case .tooManyAttempts(let seconds):
            self.init(.tooManyRequests, error.description)
            retryAfterSeconds = seconds
        case .busy: self.init(.unavailable, error.description)
        case .invalidToken, .expiredToken, .revokedToken, .unknownUser, .endedSession:
            self.init(.unauthenticated, error.description, hint: hint)
        case .noSuchSession: self.init(.notFound, error.description, hint: "GET /sessions lists the logins.")
        case .noSuchProvider:
            self.init(.notFound, error.description, hint: "'migration-tool providers' turns ways to log in on.")
        case .identityTaken: self.init(.conflict, error.description)
        case .apiKeyNameTaken, .tooManyAPIKeys: self.init(.conflict, error.description, properties: ["name"])
        case .noSuchAPIKey: self.init(.notFound, error.description)
        case .keyLogin:
            self.init(.forbidden, error.description, hint: "Log in with the account's own credentials.")
        case .wrongCode: self.init(.wrongCredentials, error.description)
        case .secondFactorRequired:
            self.init(
                .secondFactorRequired, error.description,
                hint:
                    "Log in at the admin server with POST /login and the authenticator app's code as \"code\". A "
                    + "second factor is set up in the panel.")
        case .codeRequired:
            self.init(
                .secondFactorRequired, error.description,
                hint: "Also send \"code\": the authenticator app's code, or a recovery code.")
        case .unreadableSecondFactor: self.init(.conflict, error.description)
        case .badMailToken, .notLinkable: self.init(.badRequest, error.description)
        case .alreadyInvited, .tooManyInvitations: self.init(.conflict, error.description)
        case .noMail, .unreachable, .functionFailed: self.init(.unavailable, error.description)
        case .invalidSettings: self.init(.internalError, "The server is not set up.", cause: error)
        case .invalidEmail, .invalidPassword, .invalidDisplayName, .invalidCustomData:
            self.init(.unprocessable, error.description)
        case .emailTaken: self.init(.conflict, error.description, properties: ["email"])
        case .weakSecret, .noUsableKey, .unreadableKey, .tooManyKeys, .noSuchKey, .lastKey:
            self.init(.internalError, "The server is not set up.", cause: error)
        }
        appError = AppErrorName(error)
    }
}

extension AppErrorName {
    fileprivate init(_ error: AuthenticationError) {
        self =
            switch error {
            case .wrongCredentials: .invalidPassword
            case .tooManyAttempts: .authError
            case .busy, .weakSecret, .noUsableKey, .unreadableKey, .tooManyKeys, .noSuchKey, .lastKey:
                .internalServerError
            case .invalidToken, .expiredToken, .revokedToken, .unknownUser, .endedSession: .invalidSession
            case .noSuchSession: .valueNotFound
            case .invalidEmail, .invalidPassword, .invalidDisplayName, .invalidCustomData: .badRequest
            case .noSuchProvider: .authProviderNotFound
            case .identityTaken, .alreadyInvited, .tooManyInvitations: .valueAlreadyExists
            case .apiKeyNameTaken, .tooManyAPIKeys: .apiKeyAlreadyExists
            case .noSuchAPIKey: .valueNotFound
            case .keyLogin, .wrongCode, .secondFactorRequired, .codeRequired, .unreadableSecondFactor: .authError
            case .badMailToken, .notLinkable: .badRequest
            case .noMail, .unreachable, .invalidSettings: .internalServerError
            case .functionFailed: .functionExecutionError
            case .emailTaken: .accountNameInUse
            }
    }
}
