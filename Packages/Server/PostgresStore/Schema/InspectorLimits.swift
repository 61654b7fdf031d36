/// Bounds of what gateways are asked through the database, by those who ask and by gateways.
public enum InspectorLimits {
    /// How often a gateway notes that it is there.
    public static let heartbeatInterval = Duration.seconds(5)
    /// A gateway that hasn't noted it for so long, in seconds, isn't waited for: it has ended, or can't reach the database.
    public static let aliveSeconds = 15
    /// A gateway that hasn't noted it for so long, in seconds, is forgotten.
    public static let rememberedSeconds = 600
    /// How often a gateway looks for questions.
    public static let lookInterval = Duration.milliseconds(300)
    /// A question that is older, in seconds, isn't answered any more.
    public static let questionSeconds = 10
    /// Questions that wait at a time, of everybody and of one user.
    public static let maximumQuestionCount = 64
    public static let maximumQuestionCountOfUser = 4
    /// Of a question, in bytes.
    public static let maximumRequestByteCount = 4_096
    /// Of an answer, in bytes; a longer one is replaced by a refusal.
    public static let maximumAnswerByteCount = 4 << 20
}
