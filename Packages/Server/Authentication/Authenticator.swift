internal import Batching
public import Foundation
public import PostgresClient
import Synchronization
public import TomboloModel
public import TomboloRules

/// Logs people in by e-mail and password, and tells who a token speaks for. One for each server process; all of
/// them agree through the database and the shared secret.
public final class Authenticator: Sendable {
    /// Failed logins of one e-mail from one address within ``failedLoginWindowSeconds`` before further ones wait.
    public static let maximumFailedLogins = 10
    /// Failed logins of one e-mail from all addresses and at all servers together before each further attempt waits, twice as long as the
    /// one before, up to ``maximumAccountDelaySeconds``. An address from which the account's password was right before
    /// does not wait, so that somebody else's guessing keeps nobody out for good.
    public static let maximumFailedLoginsOfAccount = 20
    public static let maximumAccountDelaySeconds: Double = 60
    /// An account's failures are forgotten after this long without an attempt.
    public static let accountMemorySeconds: Double = 15 * 60
    /// Failed logins of all e-mails from one address within ``failedLoginWindowOfAddressSeconds`` before further ones wait:
    /// an office or a whole conference may stand behind it. E-mails whose password was right from there before don't wait.
    public static let maximumFailedLoginsOfAddress = 300
    public static let failedLoginWindowOfAddressSeconds: Double = 15 * 60
    /// Logins from one address whose passwords are checked or wait at once; further ones are told to try again. An
    /// address is a single one of IPv4, or a /64 network of IPv6.
    public static let maximumConcurrentLoginsOfAddress = PasswordHasher.maximumWaiting / 4
    public static let failedLoginWindowSeconds: Double = 60
    /// How many pairs of e-mail and address are counted, and how many addresses. A flood of more makes those with the
    /// fewest failures forgotten, and none that waits.
    public static let maximumRememberedLogins = 10_000
    /// How long a user's roles may be used without asking the database: how soon a change takes effect.
    public static let roleLifetimeSeconds: Double = 1
    /// How many users' roles are remembered.
    public static let maximumRememberedRoles = 10_000

    /// Accounts that are looked up together, how many such look-ups there are at a time, and how many may wait.
    static let lookUpBounds = BatchBounds(size: 200, concurrency: 2, waiting: 20_000)

    let pool: PostgresPool
    let hasher: PasswordHasher
    let accounts: AccountRegistry
    let signer: TokenSigner
    let tokens: TokenConfiguration
    /// Of whom a second factor is taken, at the time.
    public var secondFactor: SecondFactorPolicy { policy() }
    private let policy: @Sendable () -> SecondFactorPolicy
    let providers: ProviderDirectory
    let mail: MailRoom?
    let grants: @Sendable () -> [GrantSource]
    /// Outside issuers whose keys are kept.
    static let maximumIssuerCount = 32
    /// Guards each bounded map on its own: they are never used together.
    private let limiter: Mutex<LoginLimiter>
    let actions = Mutex(ActionLimiter())
    /// Wrong codes of second factors, by user.
    let codes = Mutex(AccountBackoff(.codes, maximumCount: Authenticator.maximumRememberedLogins))
    /// What is counted together with other servers.
    let attempts: SharedAttempts
    let issuers = Mutex<[String: IssuerKeys]>([:])
    private let known: Mutex<AccountCache>
    private let lookUps: RequestBatcher<ObjectId, KnownAccount?>
    let clock = ContinuousClock()
    let start: ContinuousClock.Instant

    /// - Parameters:
    ///   - breached: passwords that are refused because they are known.
    ///   - mail: sends mails; it must run for as long as requests are served. Nil where no mail can be sent.
    ///   - secondFactor: of whom tokens count only if the login was made with a second factor, asked for each token. Only
    ///     the admin server's database role can check codes.
    ///   - grants: where roles are looked up; called whenever the database is asked, so that it may change.
    public init(
        pool: PostgresPool, tokens: TokenConfiguration, hasher: PasswordHasher = PasswordHasher(),
        breached: BreachedPasswords? = nil, mail: MailRoom? = nil,
        secondFactor policy: @escaping @Sendable () -> SecondFactorPolicy,
        grants: @escaping @Sendable () -> [GrantSource] = { [] }
    ) async {
        self.pool = pool
        self.hasher = hasher
        lookUps = RequestBatcher(
            Self.lookUpBounds, overload: PostgresPoolError.tooManyWaiters(limit: Self.lookUpBounds.waiting)
        ) { userIDs in
            // For whoever is in the batch, not for the one whose request began it.
            let known = try await PostgresBorrower.$current.withValue(nil) {
                try await Accounts.known(Set(userIDs), grants: grants(), pool)
            }
            return userIDs.map { known[$0].map { $0.map { $0 } } ?? .success(nil) }
        }
        self.mail = mail
        self.tokens = tokens
        self.policy = policy
        self.grants = grants
        attempts = SharedAttempts(pool: pool, tokens: tokens)
        accounts = AccountRegistry(pool: pool, hasher: hasher, breached: breached)
        limiter = Mutex(LoginLimiter())
        known = Mutex(
            AccountCache(maximumCount: Self.maximumRememberedRoles, lifetimeSeconds: Self.roleLifetimeSeconds))
        let (clock, start) = (clock, clock.now)
        self.start = start
        let now: @Sendable () -> Double = { (clock.now - start) / .seconds(1) }
        signer = TokenSigner(tokens, KeyRing(pool: pool, tokens: tokens, now: now))
        providers = ProviderDirectory(pool: pool, now: now)
    }

    /// With a policy that stays as it is.
    public convenience init(
        pool: PostgresPool, tokens: TokenConfiguration, hasher: PasswordHasher = PasswordHasher(),
        breached: BreachedPasswords? = nil, mail: MailRoom? = nil, secondFactor policy: SecondFactorPolicy = .ignored,
        grants: @escaping @Sendable () -> [GrantSource] = { [] }
    ) async {
        await self.init(
            pool: pool, tokens: tokens, hasher: hasher, breached: breached, mail: mail, secondFactor: { policy },
            grants: grants)
    }

    var steadySeconds: Double { (clock.now - start) / .seconds(1) }

    /// Checks e-mail and password and begins a login session. An unknown e-mail takes the time of a wrong password.
    /// - Parameters:
    ///   - address: where the request came from, for the limit on failed attempts.
    ///   - device: for the user's list of logins.
    ///   - now: the tokens count from then.
    /// - Throws: ``AuthenticationError``, or the database's error.
    public func login(
        email: String, password: String, address: String = "", device: LoginDevice = LoginDevice(), now: Date = Date()
    ) async throws -> Login {
        try await login(
            .emailPassword(email: email, password: password), address: address, device: device, now: now)
    }

    /// The account with this e-mail and password. Failed attempts are limited.
    func check(email: String, password: String, address: String) async throws -> Accounts.Account {
        let email = AccountRegistry.normalized(email)
        let key = LoginLimiter.Key(email: email, address: AddressGroup(address).text)
        let begun = limiter.withLock { limiter in
            Result { () throws(AuthenticationError) in try limiter.begin(key, now: steadySeconds) }
        }
        let attempt = try begun.get()
        var outcome = LoginLimiter.Outcome.notTried
        defer { limiter.withLock { $0.end(attempt, outcome) } }
        let shared = attempts.key(.login, key.email)
        let failures = try await attempts.count(of: shared)
        if !attempt.isTrusted, let failures,
            let seconds = BackoffSchedule.logins.wait(after: failures.attempts, age: failures.age)
        {
            throw AuthenticationError.tooManyAttempts(retryAfterSeconds: seconds)
        }
        let isUsable = password.utf8.count <= AccountRegistry.maximumPasswordByteCount && !email.utf8.contains(0)
        let account = isUsable ? try await Accounts.account(email: email, pool) : nil
        let matches = try await hasher.matches(isUsable ? password : "", account?.hash, lane: key.address)
        guard var account, matches else {
            outcome = .failed
            if !attempt.isTrusted {
                try await attempts.addFailure(shared, memorySeconds: BackoffSchedule.logins.memorySeconds)
            }
            throw AuthenticationError.wrongCredentials
        }
        outcome = .succeeded
        if failures != nil { try await attempts.forget(shared) }
        if let hash = account.hash, hasher.parameters.isStronger(than: hash.parameters) {
            // The login is good without it; the next one tries again.
            if let stronger = try? await hasher.hash(password, lane: key.address) {
                try await Accounts.strengthen(hash, to: stronger, of: account.userID, pool)
                account.hash = stronger
            }
        }
        return account
    }

    /// Makes an account with a password.
    /// - Returns: the new user's id.
    /// - Throws: ``AuthenticationError`` where e-mail, name or password cannot be used; the database's error.
    @discardableResult
    public func register(email: String, password: String, displayName: String) async throws -> ObjectId {
        try await accounts.register(email: email, password: password, displayName: displayName)
    }

    /// Who a token speaks for, with the roles that the database has for them; these may be
    /// ``roleLifetimeSeconds`` old.
    /// - Parameter isFresh: whether the database is asked in any case: for what outlasts a request.
    /// - Throws: ``AuthenticationError/invalidToken(reason:)``, ``AuthenticationError/expiredToken(expiredAt:)``,
    ///   ``AuthenticationError/revokedToken`` or ``AuthenticationError/unknownUser``; the database's error.
    public func verify(_ token: String, now: Date = Date(), isFresh: Bool = false) async throws -> Subject {
        try await checked(token, now: now, isFresh: isFresh).account.subject
    }

    /// What an access token says, and its account.
    func checked(
        _ token: String, now: Date = Date(), isFresh: Bool = false
    ) async throws -> (content: TokenSigner.Content, account: KnownAccount) {
        let content = try await signer.verify(token, now: now)
        if isFresh { forget(content.userID) }
        let known = try await known(content.userID, of: content)
        guard known.generation == content.generation, known.sessions.contains(content.sessionID) else {
            throw AuthenticationError.revokedToken
        }
        let policy = secondFactor
        if policy != .ignored, !known.provenSessions.contains(content.sessionID),
            known.hasSecondFactor || policy.requires(known.subject)
        {
            throw AuthenticationError.secondFactorRequired
        }
        return (content, known)
    }

    /// A user with their roles, as of at most ``roleLifetimeSeconds`` ago.
    /// - Throws: ``AuthenticationError/unknownUser`` for a user whose account is gone or disabled.
    public func subject(of userID: ObjectId) async throws -> Subject {
        try await known(userID, of: nil).subject
    }

    /// A user with their roles, as ``subject(of:)``, as long as a login session of theirs goes on.
    /// - Throws: ``AuthenticationError/revokedToken`` if the session has ended, ``AuthenticationError/unknownUser``.
    public func subject(of userID: ObjectId, in sessionID: ObjectId) async throws -> Subject {
        var account = try await known(userID, of: nil)
        if !account.sessions.contains(sessionID) {
            // It may be newer than what is remembered.
            forget(userID)
            account = try await known(userID, of: nil)
        }
        guard account.sessions.contains(sessionID) else { throw AuthenticationError.revokedToken }
        return account.subject
    }

    /// - Parameter token: what is remembered counts only if it knows of the token's generation and session: a token
    ///   that another server has just made is newer than what this one remembers.
    private func known(_ userID: ObjectId, of token: TokenSigner.Content?) async throws -> KnownAccount {
        let asked = steadySeconds
        if let account = known.withLock({ $0.account(userID, now: asked) }) {
            guard let token else { return account }
            if account.generation >= token.generation, account.sessions.contains(token.sessionID) { return account }
        }
        guard let account = try await lookUps.answer(userID, lane: userID.stringValue) else {
            forget(userID)
            throw AuthenticationError.unknownUser
        }
        known.withLock { $0.insert(account, readAt: asked) }
        return account
    }

    /// Makes the next look at a user ask the database: for a caller who knows that something about them changed.
    public func forget(_ userID: ObjectId) { known.withLock { $0.remove(userID) } }

    /// Makes the next look at every user ask the database.
    public func forgetRoles() { known.withLock { $0.removeAll() } }
}
