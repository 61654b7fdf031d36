import HTTPTypes
import PostgresClient
import Testing
import TomboloAuthentication
import TomboloHTTP

@Suite struct RequestFailureTests {
    @Test("A unique violation names the properties and shows no value")
    func uniqueViolation() {
        let failure = RequestFailure(
            PostgresError(
                code: .uniqueViolation, message: "duplicate key",
                detail: #"Key (event, "rank")=(\x01, a0) already exists."#))
        #expect(failure.code == .conflict)
        #expect(failure.properties == ["event", "rank"])
        #expect(!failure.message.contains("a0"))
        #expect(failure.hint != nil)
    }

    @Test(
        "Each class of database error has its HTTP status, and its text only goes to the log",
        arguments: [
            (PostgresSQLState.connectionFailure, 503), (.deadlockDetected, 503), (.adminShutdown, 503),
            (.queryCanceled, 503), (.checkViolation, 422), (.characterNotInRepertoire, 422), (.undefinedTable, 503),
            (.undefinedColumn, 503), (.insufficientPrivilege, 500),
        ])
    func databaseStatus(state: PostgresSQLState, status: Int) {
        let failure = RequestFailure(PostgresError(code: state, message: "internal words"))
        #expect(failure.code.status.code == status)
        #expect(!failure.message.contains("internal words"))
        #expect(failure.description.contains("internal words"))
    }

    @Test("A function that uses a renamed property is a permanent fault, not a temporary one")
    func brokenFunction() {
        var error = PostgresError(code: .undefinedColumn, message: "column e.state does not exist")
        error.context = "PL/pgSQL function tombolo.publish_event() line 3 at IF"
        let failure = RequestFailure(error)
        #expect(failure.code == .internalError && !failure.code.canRetry && failure.hint != nil)
        #expect(!failure.message.contains("state") && failure.description.contains("e.state"))
    }

    @Test(
        "Each authentication error has its HTTP status",
        arguments: [
            (AuthenticationError.wrongCredentials, 401), (.tooManyAttempts(retryAfterSeconds: 7), 429), (.busy, 503),
            (.invalidToken(reason: "x"), 401), (.expiredToken(expiredAt: 0), 401), (.revokedToken, 401),
            (.unknownUser, 401), (.emailTaken, 409),
            (.weakSecret(byteCount: 1), 500),
        ])
    func authenticationStatus(error: AuthenticationError, status: Int) {
        #expect(RequestFailure(error).code.status.code == status)
    }
}
