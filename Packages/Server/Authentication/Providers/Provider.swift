/// The ways to log in, by the names that RealmSwift's `User.identities` has for them.
public enum Provider {
    public static let emailPassword = "local-userpass"
}
