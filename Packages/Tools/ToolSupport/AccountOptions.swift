public import ArgumentParser
public import TomboloAuthentication
public import TomboloModel

/// The account that a command creates.
public struct AccountOptions: ParsableArguments {
    @Argument(help: "The e-mail address to log in with.")
    public var email: String

    @Option(help: "The display name. Default: the part of the address before the @.")
    public var name: String?

    @Flag(help: "Read the password from the first line of standard input.")
    public var passwordStdin = false

    public init() {}

    /// Creates the account and prints its id, plus the password unless it came from standard input.
    /// - Throws: ``TomboloAuthentication/AuthenticationError``, with `emailTaken` if an account already has the
    ///   address; the database's error.
    nonisolated(nonsending) public func register(_ accounts: AccountRegistry) async throws -> ObjectId {
        let given = passwordStdin ? readLine(strippingNewline: true) ?? "" : nil
        let password = given ?? Self.randomPassword()
        let userID = try await accounts.register(
            email: email, password: password,
            displayName: name ?? String(email.split(separator: "@").first ?? "User"))
        print("Created the account \(email), id \(userID).")
        if given == nil { print("Its password, shown only now: \(password)") }
        return userID
    }

    /// 24 characters that can't be confused with each other: about 119 bits.
    private static func randomPassword() -> String {
        let characters = Array("abcdefghjkmnpqrstuvwxyz23456789")
        var generator = SystemRandomNumberGenerator()
        return String((0..<24).compactMap { _ in characters.randomElement(using: &generator) })
    }
}

extension ToolError {
    /// Runs `body`. If the account is missing, the error says which one.
    nonisolated(nonsending) public static func naming<R: Sendable>(
        _ email: String, _ body: nonisolated(nonsending) () async throws -> R
    ) async throws -> R {
        do {
            return try await body()
        } catch AuthenticationError.unknownUser {
            throw ToolError(
                "No account has the e-mail address \(email).",
                fix: "Check the address; 'migration-tool user add \(email)' creates an account.")
        }
    }
}
