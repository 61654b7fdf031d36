import Foundation

/// A question and everything that was answered to it.
struct Exchange: Equatable, Sendable {
    /// The same for the same exchange wherever it comes from, so that a second import adds nothing.
    var identity: String
    /// Empty where the server did not say.
    var query: String
    var queryDate: Date
    var answerDate: Date
    /// Which skill answered; empty where the server did not say.
    var skill: String
    /// In the order in which they are to be done.
    var replies: [Reply]

    /// An action, and its JSON where it was not understood as a whole.
    struct Reply: Equatable, Sendable {
        var action: Action
        var raw: String?
    }
}
