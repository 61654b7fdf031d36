internal import TomboloModel

/// Limits logins, in memory and bounded: a value, its owner holds the lock.
///
/// Each pair of e-mail and address has a number of attempts that may fail within ``Limit/windowSeconds``, each address
/// alone within ``Limit/addressWindowSeconds``; an attempt counts when it begins, so that many at once are limited too.
/// One address has no more than ``Limit/concurrent`` attempts under way, so that it cannot keep everybody else from
/// logging in. Each e-mail has an ``AccountBackoff`` over all addresses.
///
/// A pair whose password was right before is trusted: neither the guesses of others behind the same address nor those at
/// the account from elsewhere keep it waiting, and its own failures count for the pair alone.
struct LoginLimiter: Sendable {
    struct Limit: Sendable {
        var failures = Authenticator.maximumFailedLogins
        var failuresOfAddress = Authenticator.maximumFailedLoginsOfAddress
        var account = BackoffSchedule.logins
        var concurrent = Authenticator.maximumConcurrentLoginsOfAddress
        var windowSeconds = Authenticator.failedLoginWindowSeconds
        var addressWindowSeconds = Authenticator.failedLoginWindowOfAddressSeconds
        /// Pairs that are remembered; also addresses, accounts, and pairs that succeeded.
        var entries = Authenticator.maximumRememberedLogins
    }

    /// Equal by bytes, as addresses of accounts are.
    struct Key: Hashable, Sendable {
        let email: String
        /// An ``AddressGroup``.
        let address: String

        /// How much of an address tells one from another, in bytes.
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
        /// Whether the pair was trusted when it began: it counts for the pair alone then.
        let isTrusted: Bool
    }

    /// How an attempt ended.
    enum Outcome: Sendable {
        case succeeded
        case failed
        /// The password was not looked at.
        case notTried
    }

    private let limit: Limit
    private var pairs: AttemptCounter<Key>
    private var addresses: AttemptCounter<String>
    private var accounts: AccountBackoff
    /// Pairs whose last success was not long ago.
    private var trusted: RecentKeys<Key>
    /// Attempts under way, by address.
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

    /// Pairs with failures that are remembered.
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

    /// A success forgets the failures of the pair and of the account; of the address only this attempt: somebody who
    /// tries many accounts may have one.
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
