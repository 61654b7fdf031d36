/// Bounds for questions that admin servers ask gateways through the database. Both sides use them.
public enum InspectorLimits {
    /// How often a gateway renews its row.
    public static let heartbeatInterval = Duration.seconds(5)
    /// The age of a gateway's row, in seconds, from which nobody waits for the gateway: it has ended, or can't reach
    /// the database.
    public static let aliveSeconds = 15
    /// The age of a gateway's row, in seconds, from which it is deleted.
    public static let rememberedSeconds = 600
    /// How often a gateway looks for questions.
    public static let lookInterval = Duration.milliseconds(300)
    /// The age in seconds from which a question isn't answered any more.
    public static let questionSeconds = 10
    /// The most waiting questions, in total and for one user.
    public static let maximumQuestionCount = 64
    public static let maximumQuestionCountOfUser = 4
    /// The most bytes of a question.
    public static let maximumRequestByteCount = 4_096
    /// The most bytes of an answer; a longer one is replaced by a refusal.
    public static let maximumAnswerByteCount = 4 << 20
}
