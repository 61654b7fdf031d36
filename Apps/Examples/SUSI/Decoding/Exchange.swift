import Foundation

/// A question and all answers to it.
struct Exchange: Equatable, Sendable {
    /// The same for the same exchange, wherever it comes from, so that a second import adds nothing.
    var identity: String
    /// Empty if the server didn't provide it.
    var query: String
    var queryDate: Date
    var answerDate: Date
    /// The skill that answered. Empty if the server didn't provide it.
    var skill: String
    /// In the order in which to perform them.
    var replies: [Reply]

    /// An action, plus its JSON if it wasn't fully understood.
    struct Reply: Equatable, Sendable {
        var action: Action
        var raw: String?
    }
}
