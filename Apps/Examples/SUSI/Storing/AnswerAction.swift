import Tombolo

/// Text to show.
class AnswerAction: Object {
    @Persisted var expression = ""
    @Persisted var language: String?

    convenience init(expression: String, language: String?) {
        self.init()
        self.expression = expression
        self.language = language
    }
}
