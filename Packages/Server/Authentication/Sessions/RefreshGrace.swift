/// When reusing an exchanged refresh token isn't a theft: the answer was lost, and the device asks again.
///
/// Only the token before the newest counts. Exchanging it returns the newest again, not another one: two holders of a
/// token never get two different lines of successors. docs/security.md says what that leaves to a thief.
public enum RefreshGrace {
    /// From the exchange, in seconds.
    public static let seconds = 30
    /// How often the same exchange may be repeated.
    public static let maximumRepeats = 3
}
