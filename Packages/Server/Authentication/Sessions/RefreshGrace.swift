/// When a refresh token that was already exchanged is no theft: the answer was lost, and the device asks again.
///
/// Only the token before the newest counts, and it gets the newest again, not one more: two holders of a token never get
/// two different lines of successors. docs/security.md says what that leaves to a thief.
public enum RefreshGrace {
    /// From the exchange, in seconds.
    public static let seconds = 30
    /// How often the same exchange may be repeated.
    public static let maximumRepeats = 3
}
