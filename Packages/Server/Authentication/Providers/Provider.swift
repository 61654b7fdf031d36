/// The ways to log in, by their names in RealmSwift's `User.identities`.
public enum Provider {
    public static let emailPassword = "local-userpass"
    public static let anonymous = "anon-user"
    public static let apiKey = "api-key"
    public static let function = "custom-function"
    public static let jwt = "custom-token"
    public static let apple = "oauth2-apple"
    public static let google = "oauth2-google"

    /// Whether the provider checks tokens of an outside issuer: `custom-token`, also with a suffix such as
    /// `custom-token-school` for further issuers, Apple and Google.
    public static func isIssuer(_ name: String) -> Bool {
        name == jwt || name.hasPrefix(jwt + "-") || name == apple || name == google
    }

    /// Whether a provider can have this name.
    static func exists(_ name: String) -> Bool {
        guard name.utf8.count <= 64, name.utf8.allSatisfy({ isNameByte($0) }) else { return false }
        return [emailPassword, anonymous, apiKey, function].contains(name) || isIssuer(name)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "-")
    }
}
