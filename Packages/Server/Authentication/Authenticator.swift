internal import Batching
public import Foundation
public import PostgresClient
import Synchronization
public import TomboloModel
public import TomboloRules

/// Logs people in by e-mail address and password, and identifies the user of a token. Each server process has one; they
/// all agree by way of the database and the shared secret.
public final class Authenticator: Sendable {
    /// How many logins of one e-mail address from one IP address may fail within ``failedLoginWindowSeconds`` before
    /// further ones must wait.
    public static let maximumFailedLogins = 10
    /// How many logins of one e-mail address may fail, from all IP addresses and at all servers together, before each
    /// further attempt must wait: twice as long as the one before, up to ``maximumAccountDelaySeconds``. An IP address
    /// from which the account's password was right before doesn't have to wait, so that somebody else's guessing can't
    /// lock the user out for good.
    public static let maximumFailedLoginsOfAccount = 20
    public static let maximumAccountDelaySeconds: Double = 60
    /// An account's failures are forgotten after this long without an attempt.
    public static let accountMemorySeconds: Double = 15 * 60
    /// How many logins of all e-mail addresses from one IP address may fail within
    /// ``failedLoginWindowOfAddressSeconds`` before further ones must wait. An office or a whole conference may share
    /// the address. E-mail addresses whose password was right from there before don't have to wait.
    public static let maximumFailedLoginsOfAddress = 300
    public static let failedLoginWindowOfAddressSeconds: Double = 15 * 60
    /// How many logins from one address may be checked or wait at once; further ones are told to try again. An address
    /// is a single IPv4 address, or a /64 network of IPv6.
    public static let maximumConcurrentLoginsOfAddress = PasswordHasher.maximumWaiting / 4
    public static let failedLoginWindowSeconds: Double = 60
    /// How many pairs of e-mail address and IP address are counted, and how many IP addresses. If a flood exceeds this,
    /// those with the fewest failures are forgotten, but none that has to wait.
    public static let maximumRememberedLogins = 10_000
    /// How long a user's roles may be used without asking the database. This is how soon a change takes effect.
    public static let roleLifetimeSeconds: Double = 1
    /// How many users' roles are cached.
    public static let maximumRememberedRoles = 10_000

    /// How many accounts are looked up together, how many such look-ups run at a time, and how many may wait.
    static let lookUpBounds = BatchBounds(size: 200, concurrency: 2, waiting: 20_000)

    let pool: PostgresPool
    let hasher: PasswordHasher
    let accounts: AccountRegistry
    let signer: TokenSigner
    let tokens: TokenConfiguration
    /// Which users currently need a second factor.
    public var secondFactor: SecondFactorPolicy { policy() }
    private let policy: @Sendable () -> SecondFactorPolicy
    let providers: ProviderDirectory
    let mail: MailRoom?
    let grants: @Sendable () -> [GrantSource]
    /// The most outside issuers whose keys are cached.
    static let maximumIssuerCount = 32
    /// Each lock guards one bounded map: they are never used together.
    private let limiter: Mutex<LoginLimiter>
    let actions = Mutex(ActionLimiter())
    /// Wrong codes of second factors, by user.
    let codes = Mutex(AccountBackoff(.codes, maximumCount: Authenticator.maximumRememberedLogins))
    /// The counts that servers share.
    let attempts: SharedAttempts
    let issuers = Mutex<[String: IssuerKeys]>([:])
    private let known: Mutex<AccountCache>
    private let lookUps: RequestBatcher<ObjectId, KnownAccount?>
    let clock = ContinuousClock()
    let start: ContinuousClock.Instant

    /// - Parameters:
    ///   - breached: known passwords, which are refused.
    ///   - mail: sends mails; it must run for as long as requests are served. Nil if no mail can be sent.
    ///   - secondFactor: which users' tokens count only if the login was made with a second factor. It's called for
    ///     each token. Only the admin server's database role can check codes.
    ///   - grants: where roles are looked up. It's called whenever the database is asked, so the result may change.
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
            // The query serves the whole batch, not only the request that began it.
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

    /// With a fixed policy.
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

    /// Checks e-mail address and password, and begins a login session. An unknown address takes as long as a wrong
    /// password.
    /// - Parameters:
    ///   - address: where the request came from, for the limit on failed attempts.
    ///   - device: for the user's list of logins.
    ///   - now: when the tokens become valid.
    /// - Throws: ``AuthenticationError``, or the database's error.
    public func login(
        email: String, password: String, address: String = "", device: LoginDevice = LoginDevice(), now: Date = Date()
    ) async throws -> Login {
        try await login(
            .emailPassword(email: email, password: password), address: address, device: device, now: now)
    }

    /// The account with this e-mail address and password. Failed attempts are limited.
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
            // The login succeeds without it; the next one will try again.
            if let stronger = try? await hasher.hash(password, lane: key.address) {
                try await Accounts.strengthen(hash, to: stronger, of: account.userID, pool)
                account.hash = stronger
            }
        }
        return account
    }

    /// Makes an account with a password.
    /// - Returns: the new user's id.
    /// - Throws: ``AuthenticationError`` if the e-mail address, name or password can't be used; the database's error.
    @discardableResult
    public func register(email: String, password: String, displayName: String) async throws -> ObjectId {
        try await accounts.register(email: email, password: password, displayName: displayName)
    }

    /// The user of a token, with their roles in the database. These may be ``roleLifetimeSeconds`` old.
    /// - Parameter isFresh: whether to ask the database in any case: for decisions that outlast a request.
    /// - Throws: ``AuthenticationError/invalidToken(reason:)``, ``AuthenticationError/expiredToken(expiredAt:)``,
    ///   ``AuthenticationError/revokedToken`` or ``AuthenticationError/unknownUser``; the database's error.
    public func verify(_ token: String, now: Date = Date(), isFresh: Bool = false) async throws -> Subject {
        try await checked(token, now: now, isFresh: isFresh).account.subject
    }

    /// The content of an access token, and its account.
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

    /// A user with their roles, at most ``roleLifetimeSeconds`` old.
    /// - Throws: ``AuthenticationError/unknownUser`` for a user whose account is gone or disabled.
    public func subject(of userID: ObjectId) async throws -> Subject {
        try await known(userID, of: nil).subject
    }

    /// A user with their roles, like ``subject(of:)``, as long as their login session is live.
    /// - Throws: ``AuthenticationError/revokedToken`` if the session has ended, ``AuthenticationError/unknownUser``.
    public func subject(of userID: ObjectId, in sessionID: ObjectId) async throws -> Subject {
        var account = try await known(userID, of: nil)
        if !account.sessions.contains(sessionID) {
            // It may be newer than the cached account.
            forget(userID)
            account = try await known(userID, of: nil)
        }
        guard account.sessions.contains(sessionID) else { throw AuthenticationError.revokedToken }
        return account.subject
    }

    /// - Parameter token: the cached account counts only if it has the token's generation and session: a token that
    ///   another server has just made is newer than this server's cache.
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

    /// Makes the next look-up of a user ask the database: for a caller who knows that something about them has changed.
    public func forget(_ userID: ObjectId) { known.withLock { $0.remove(userID) } }

    /// Makes the next look-up of every user ask the database.
    public func forgetRoles() { known.withLock { $0.removeAll() } }
}
