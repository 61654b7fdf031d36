/// Limits what strangers may ask for besides logins with a password, in memory and bounded: a value, its owner holds the
/// lock. An action counts when it begins; one that turns out to be honest is given back where only failures count.
struct ActionLimiter: Sendable {
    enum Action: CaseIterable, Sendable {
        /// Makes an account without asking anybody.
        case newAccount
        /// Registers, or has a mail sent.
        case mail
        /// Shows a token, a key or a payload for an outside function. Failures count.
        case proof
        /// Gives a code of a second factor. Failures count.
        case code
        /// Exchanges a refresh token. Failures count.
        case exchange
    }

    /// Of one address (a /64 network of IPv6) within ``windowSeconds(of:)``: a venue may stand behind it.
    static let maximumOfAddress: [Action: Int] = [
        .newAccount: 100, .mail: 60, .proof: 200, .code: 100, .exchange: 2_000,
    ]
    /// Codes have six digits, and are guessed for as long as passwords are.
    static func windowSeconds(of action: Action) -> Double {
        action == .code ? Authenticator.failedLoginWindowOfAddressSeconds : 60
    }
    /// Mails to one address within ``mailWindowSeconds``, counted over all callers and all servers: ``SharedAttempts``.
    static let maximumMails = 5
    static let mailWindowSeconds: Double = 60 * 60
    /// Proofs under way at once, of one address and together: each may wait for somebody else's server.
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

    /// The action was honest.
    mutating func giveBack(_ action: Action, address: String) { addresses[action]?.giveBack(address) }

    /// Takes a place among the proofs under way; ``leave(_:)`` must follow.
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
