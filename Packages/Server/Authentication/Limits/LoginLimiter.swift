internal import TomboloModel

/// Limits logins. It's a bounded value in memory, whose owner holds the lock.
///
/// Each pair of e-mail address and IP address may fail so many times within ``Limit/windowSeconds``, and each IP
/// address within ``Limit/addressWindowSeconds``. An attempt counts when it begins, so that concurrent ones are limited
/// too. One IP address can have at most ``Limit/concurrent`` attempts in flight, so that it can't keep everybody else
/// from logging in. Each e-mail address has an ``AccountBackoff`` over all IP addresses.
///
/// A pair whose password was right before is trusted: it doesn't have to wait because of guesses by others behind the
/// same IP address, or of guesses at the account from elsewhere. Its own failures count for the pair alone.
struct LoginLimiter: Sendable {
    struct Limit: Sendable {
        var failures = Authenticator.maximumFailedLogins
        var failuresOfAddress = Authenticator.maximumFailedLoginsOfAddress
        var account = BackoffSchedule.logins
        var concurrent = Authenticator.maximumConcurrentLoginsOfAddress
        var windowSeconds = Authenticator.failedLoginWindowSeconds
        var addressWindowSeconds = Authenticator.failedLoginWindowOfAddressSeconds
        /// How many pairs are remembered. The same limit applies to addresses, accounts, and trusted pairs.
        var entries = Authenticator.maximumRememberedLogins
    }

    /// Compared by bytes, like the addresses of accounts.
    struct Key: Hashable, Sendable {
        let email: String
        /// An ``AddressGroup``.
        let address: String

        /// How many bytes of an IP address are kept: enough to tell addresses apart.
        static let maximumAddressByteCount = 64

        /// Keeps no more of either than an account or an address can have: thousands of keys are remembered.
        init(email: String, address: String) {
            self.email = String(email.prefix(byteCount: AccountRegistry.maximumEmailByteCount))
            self.address = String(address.prefix(byteCount: Self.maximumAddressByteCount))
        }

        static func == (left: Key, right: Key) -> Bool {
            left.email.hasBytes(of: right.email) && left.address.hasBytes(of: right.address)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(Value.string(email))
            hasher.combine(Value.string(address))
        }
    }

    /// An attempt that may go on.
    struct Attempt: Sendable {
        let key: Key
        /// Whether the pair was trusted when the attempt began: the attempt then counts for the pair alone.
        let isTrusted: Bool
    }

    /// How an attempt ended.
    enum Outcome: Sendable {
        case succeeded
        case failed
        /// The password wasn't checked.
        case notTried
    }

    private let limit: Limit
    private var pairs: AttemptCounter<Key>
    private var addresses: AttemptCounter<String>
    private var accounts: AccountBackoff
    /// Pairs with a recent success.
    private var trusted: RecentKeys<Key>
    /// Attempts in flight, by IP address.
    private var underWay: [String: Int] = [:]

    init(_ limit: Limit = Limit()) {
        self.limit = limit
        pairs = AttemptCounter(
            attempts: limit.failures, windowSeconds: limit.windowSeconds, maximumCount: limit.entries)
        addresses = AttemptCounter(
            attempts: limit.failuresOfAddress, windowSeconds: limit.addressWindowSeconds, maximumCount: limit.entries)
        accounts = AccountBackoff(limit.account, maximumCount: limit.entries)
        trusted = RecentKeys(maximumCount: limit.entries)
    }

    /// The number of pairs with remembered failures.
    var count: Int { pairs.count }

    /// Begins an attempt; ``end(_:_:)`` must follow.
    /// - Parameter now: in seconds, of any steady clock.
    /// - Throws: ``AuthenticationError/tooManyAttempts(retryAfterSeconds:)`` or ``AuthenticationError/busy``.
    mutating func begin(_ key: Key, now: Double) throws(AuthenticationError) -> Attempt {
        guard underWay[key.address, default: 0] < limit.concurrent else { throw .busy }
        let attempt = Attempt(key: key, isTrusted: trusted.contains(key))
        if !attempt.isTrusted, let seconds = addresses.begin(key.address, now: now) {
            throw .tooManyAttempts(retryAfterSeconds: seconds)
        }
        if let seconds = pairs.begin(key, now: now) {
            if !attempt.isTrusted { addresses.giveBack(key.address) }
            throw .tooManyAttempts(retryAfterSeconds: seconds)
        }
        if !attempt.isTrusted, let seconds = accounts.begin(key.email, now: now) {
            pairs.giveBack(key)
            addresses.giveBack(key.address)
            throw .tooManyAttempts(retryAfterSeconds: seconds)
        }
        underWay[key.address, default: 0] += 1
        return attempt
    }

    /// A success forgets the failures of the pair and of the account. For the IP address, it only takes back this
    /// attempt: somebody who tries many accounts may own one of them.
    mutating func end(_ attempt: Attempt, _ outcome: Outcome) {
        let key = attempt.key
        let left = underWay[key.address, default: 0] - 1
        underWay[key.address] = left > 0 ? left : nil
        switch outcome {
        case .succeeded:
            pairs.forget(key)
            accounts.forget(key.email)
            trusted.note(key)
            if !attempt.isTrusted { addresses.giveBack(key.address) }
        case .failed: break
        case .notTried:
            pairs.giveBack(key)
            guard !attempt.isTrusted else { return }
            addresses.giveBack(key.address)
            accounts.giveBack(key.email)
        }
    }
}
