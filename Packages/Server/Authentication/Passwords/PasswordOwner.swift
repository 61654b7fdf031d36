/// Whom a password is for. Whoever attacks an account knows that much of it.
struct PasswordOwner: Sendable {
    let email: String
    var name = ""
}
