/// Limits what strangers may do besides logins with a password. It's a bounded value in memory, whose owner holds the
/// lock. An action counts when it begins. If only failures count, an action that turns out to be honest is given back.
struct ActionLimiter: Sendable {
    enum Action: CaseIterable, Sendable {
        /// Makes an account without asking anybody.
        case newAccount
        /// Registers, or requests a mail.
        case mail
        /// Presents a token, a key or a payload for an outside function. Only failures count.
        case proof
        /// Enters a code of a second factor. Only failures count.
        case code
        /// Exchanges a refresh token. Only failures count.
        case exchange
    }

    /// The limit for one address (a /64 network of IPv6) within ``windowSeconds(of:)``. A whole venue may share it.
    static let maximumOfAddress: [Action: Int] = [
        .newAccount: 100, .mail: 60, .proof: 200, .code: 100, .exchange: 2_000,
    ]
    /// How long actions of a kind count. Codes have only six digits, and can be guessed over as long a time as
    /// passwords.
    static func windowSeconds(of action: Action) -> Double {
        action == .code ? Authenticator.failedLoginWindowOfAddressSeconds : 60
    }
    /// The most mails to one address within ``mailWindowSeconds``, counted over all callers and all servers:
    /// ``SharedAttempts``.
    static let maximumMails = 5
    static let mailWindowSeconds: Double = 60 * 60
    /// The most concurrent proofs, from one address and in total. Each may wait for somebody else's server.
    static let maximumConcurrentOfAddress = 16
    static let maximumConcurrent = 256
    static let maximumRemembered = 10_000

    private var addresses: [Action: AttemptCounter<String>]
    private var underWay: [String: Int] = [:]
    private var underWayCount = 0

    init() {
        addresses = Dictionary(
            uniqueKeysWithValues: Action.allCases.map {
                (
                    $0,
                    AttemptCounter(
                        attempts: Self.maximumOfAddress[$0] ?? 1, windowSeconds: Self.windowSeconds(of: $0),
                        maximumCount: Self.maximumRemembered)
                )
            })
    }

    /// - Parameters:
    ///   - address: an ``AddressGroup``.
    ///   - now: in seconds, of any steady clock.
    /// - Throws: ``AuthenticationError/tooManyAttempts(retryAfterSeconds:)``.
    mutating func begin(_ action: Action, address: String, now: Double) throws(AuthenticationError) {
        if let seconds = addresses[action]?.begin(address, now: now) {
            throw .tooManyAttempts(retryAfterSeconds: seconds)
        }
    }

    /// Takes back an action that turned out to be honest.
    mutating func giveBack(_ action: Action, address: String) { addresses[action]?.giveBack(address) }

    /// Takes one of the places for concurrent proofs; ``leave(_:)`` must follow.
    /// - Throws: ``AuthenticationError/busy``.
    mutating func enter(_ address: String) throws(AuthenticationError) {
        guard underWayCount < Self.maximumConcurrent,
            underWay[address, default: 0] < Self.maximumConcurrentOfAddress
        else { throw .busy }
        underWay[address, default: 0] += 1
        underWayCount += 1
    }

    mutating func leave(_ address: String) {
        let left = underWay[address, default: 0] - 1
        underWay[address] = left > 0 ? left : nil
        underWayCount -= 1
    }
}
