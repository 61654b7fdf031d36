/// The owner of a password. An attacker of the account knows this much about it.
struct PasswordOwner: Sendable {
    let email: String
    var name = ""
}
