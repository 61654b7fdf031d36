import Foundation
public import PostgresClient
public import TomboloModel
import TomboloLocalization

/// Makes accounts and sets passwords. It doesn't check who asks: that is up to services and tools.
public struct AccountRegistry: Sendable {
    /// In characters. No rule demands certain kinds of characters: what counts is the length, and that nobody else
    /// would think of the password. See ``PasswordWeakness``.
    public static let minimumPasswordLength = 8
    /// In bytes of UTF-8.
    public static let maximumPasswordByteCount = 1_024
    public static let maximumEmailByteCount = 254
    public static let maximumDisplayNameByteCount = 200
    /// Measured as PostgreSQL prints it, with a blank after each comma and colon.
    public static let maximumCustomDataByteCount = 16 << 10

    let pool: PostgresPool
    private let hasher: PasswordHasher
    private let breached: BreachedPasswords?

    /// - Parameter breached: known passwords, which are refused.
    public init(
        pool: PostgresPool, hasher: PasswordHasher = PasswordHasher(), breached: BreachedPasswords? = nil
    ) {
        self.pool = pool
        self.hasher = hasher
        self.breached = breached
    }

    /// Makes an account with a password, both or neither.
    /// - Returns: the new user's id.
    /// - Throws: ``AuthenticationError`` if the e-mail address, name or password can't be used; the database's error.
    @discardableResult
    public func register(email: String, password: String, displayName: String) async throws -> ObjectId {
        let email = try Self.validated(email: email)
        let displayName = try Self.validated(displayName: displayName)
        try validate(password: password, of: PasswordOwner(email: email, name: displayName))
        let hash = try await hasher.hash(password)
        let userID = ObjectId.generate()
        try await insert(userID, email: email, displayName: displayName, hash)
        return userID
    }

    /// - Parameter isUnused: whether another account may still take over its address and password.
    func insert(
        _ userID: ObjectId, email: String, displayName: String, _ hash: PasswordHash, isUnused: Bool = false
    ) async throws {
        try await pool.transaction { connection in
            try await Accounts.insert(userID, email: email, displayName: displayName, connection)
            try await Accounts.setPassword(hash, of: userID, isUnused: isUnused, connection)
        }
    }

    /// Sets the password of an account, whether or not it had one, and revokes its tokens, so that the old password is
    /// of no more use to anybody who knew it.
    /// - Returns: the account's user.
    /// - Throws: ``AuthenticationError/unknownUser`` if no account has the e-mail address,
    ///   ``AuthenticationError/invalidPassword(reason:)``.
    @discardableResult
    public func setPassword(_ password: String, email: String) async throws -> ObjectId {
        let email = Self.normalized(email)
        guard let account = try await Accounts.account(email: email, pool) else {
            throw AuthenticationError.unknownUser
        }
        try validate(password: password, of: PasswordOwner(email: email, name: account.displayName))
        let hash = try await hasher.hash(password)
        try await pool.transaction { connection in
            try await Accounts.setPassword(hash, of: account.userID, connection)
            try await Accounts.revokeTokens(of: account.userID, connection)
        }
        return account.userID
    }

    /// Revokes all current tokens of an account; its password stays. Servers notice within
    /// ``Authenticator/roleLifetimeSeconds``, open sync sessions when they next look up what their user may do.
    /// - Returns: the account's user.
    /// - Throws: ``AuthenticationError/unknownUser`` if no account has the e-mail address.
    @discardableResult
    public func revokeTokens(email: String) async throws -> ObjectId {
        let userID = try await user(email: email)
        try await pool.withConnection { try await Accounts.revokeTokens(of: userID, $0) }
        return userID
    }

    /// Whether this is the account's password.
    /// - Throws: ``AuthenticationError/unknownUser`` if no account has the e-mail address.
    public func hasPassword(_ password: String, email: String) async throws -> Bool {
        guard let account = try await Accounts.account(email: Self.normalized(email), pool) else {
            throw AuthenticationError.unknownUser
        }
        return try await hasher.matches(password, account.hash)
    }

    /// The user of the account with this e-mail address.
    /// - Throws: ``AuthenticationError/unknownUser`` if there is none.
    public func user(email: String) async throws -> ObjectId {
        guard let account = try await Accounts.account(email: Self.normalized(email), pool) else {
            throw AuthenticationError.unknownUser
        }
        return account.userID
    }

    /// Replaces the custom data of an account, which rules see as `%%user.custom_data`. Open sessions follow within a
    /// second or two.
    /// - Parameter json: the text of an object of at most ``maximumCustomDataByteCount`` bytes.
    /// - Returns: the account's user.
    /// - Throws: ``AuthenticationError/invalidCustomData(reason:)``, or ``AuthenticationError/unknownUser`` if no
    ///   account has the e-mail address.
    @discardableResult
    public func setCustomData(_ json: String, email: String) async throws -> ObjectId {
        guard json.utf8.count <= Self.maximumCustomDataByteCount else {
            throw AuthenticationError.invalidCustomData(
                reason: "it has \(json.utf8.count) bytes; at most \(Self.maximumCustomDataByteCount) are allowed.")
        }
        guard !json.utf8.contains(0) else {
            throw AuthenticationError.invalidCustomData(reason: "it contains U+0000.")
        }
        guard let userID = try await Accounts.setCustomData(json, email: Self.normalized(email), pool) else {
            throw AuthenticationError.unknownUser
        }
        return userID
    }

    /// Disables an account or enables it again. Nobody can log in to a disabled account, and its tokens stop working;
    /// enabling it doesn't bring them back.
    /// - Returns: the account's user.
    /// - Throws: ``AuthenticationError/unknownUser`` if no account has the e-mail address.
    @discardableResult
    public func setEnabled(_ isEnabled: Bool, email: String) async throws -> ObjectId {
        guard let userID = try await Accounts.setEnabled(isEnabled, email: Self.normalized(email), pool) else {
            throw AuthenticationError.unknownUser
        }
        return userID
    }

    /// Deletes an account with its identities, logins and keys. What it wrote into an app's classes stays.
    /// - Returns: the former user.
    /// - Throws: ``AuthenticationError/unknownUser`` if no account has the e-mail address.
    @discardableResult
    public func delete(email: String) async throws -> ObjectId {
        let result = try await pool.query(
            "DELETE FROM tombolo.account WHERE email = $1 RETURNING id", [.text(Self.normalized(email))])
        guard let userID = try result.first.flatMap({ ObjectId(bytes: try $0[0].bytes) }) else {
            throw AuthenticationError.unknownUser
        }
        return userID
    }

    /// Removes an account's second factor with its recovery codes: after that, the password alone is enough to log in.
    /// - Returns: the user.
    /// - Throws: ``AuthenticationError/unknownUser`` if no account has the e-mail address.
    @discardableResult
    public func removeSecondFactor(email: String) async throws -> ObjectId {
        let userID = try await user(email: email)
        try await SecondFactors.remove(of: userID, pool)
        return userID
    }

    static func normalized(_ email: String) -> String {
        email.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
    }

    /// Characters that mail programs would take for several addresses, or for a name beside an address (RFC 5322,
    /// section 3.2.3).
    private static let specials: Set<Unicode.Scalar> = ["(", ")", "<", ">", "[", "]", ":", ";", "\\", ",", "\""]

    static func validated(email: String) throws(AuthenticationError) -> String {
        let email = normalized(email)
        // As mail programs do: Swift merges a character with a combining mark after it.
        let scalars = email.unicodeScalars
        let parts = scalars.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[1].split(separator: ".").count >= 2,
            parts[1].first != ".", parts[1].last != "."
        else { throw .invalidEmail(reason: localized("write it as name@example.org.")) }
        guard email.utf8.count <= maximumEmailByteCount else {
            throw .invalidEmail(reason: localized("it is longer than \(maximumEmailByteCount) bytes."))
        }
        // For example, some characters reverse the direction of text, including what an operator reads next to it.
        let isShown = scalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        guard isShown else {
            throw .invalidEmail(reason: localized("it contains a space or a control character."))
        }
        guard !scalars.contains(where: specials.contains) else {
            throw .invalidEmail(
                reason: localized(
                    "it contains one of \(String(String.UnicodeScalarView(specials.sorted()))), which have a special "
                        + "meaning in mails."))
        }
        return email
    }

    /// Checks whether a password may be set.
    /// - Throws: ``AuthenticationError/invalidPassword(reason:)``.
    func validate(password: String, of owner: PasswordOwner) throws(AuthenticationError) {
        guard password.count >= Self.minimumPasswordLength else {
            throw .invalidPassword(reason: localized("it needs at least \(Self.minimumPasswordLength) characters."))
        }
        guard password.utf8.count <= Self.maximumPasswordByteCount else {
            throw .invalidPassword(reason: localized("it is longer than \(Self.maximumPasswordByteCount) bytes."))
        }
        if let weakness = PasswordWeakness.of(password, owner: owner) {
            throw .invalidPassword(reason: weakness.reason)
        }
        guard breached?.contains(password) != true else {
            throw .invalidPassword(reason: localized("it appeared in a data leak: choose another."))
        }
    }

    static func validated(displayName: String) throws(AuthenticationError) -> String {
        let name = displayName.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !name.isEmpty else { throw .invalidDisplayName(reason: localized("it is empty.")) }
        guard name.utf8.count <= maximumDisplayNameByteCount else {
            throw .invalidDisplayName(reason: localized("it is longer than \(maximumDisplayNameByteCount) bytes."))
        }
        guard !name.utf8.contains(0) else { throw .invalidDisplayName(reason: "it contains U+0000.") }
        return name
    }
}
