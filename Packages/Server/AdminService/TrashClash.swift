import TomboloHTTP
import TomboloModel
import TomboloLocalization

/// An object in the trash that can't come back because a live one has the same unique values.
struct TrashClash: Sendable {
    /// The caller's choices.
    enum Choice: String, Sendable {
        /// Restore it with other values.
        case values
        /// Leave it in the trash and restore the rest of its group.
        case leave
        /// Move the live object into the trash instead.
        case swap
    }

    let className: String
    let key: Value
    let properties: [String]
    /// The live object, for callers who may read it.
    let live: Value?
    let choices: [Choice]

    var json: JSON {
        [
            "class": .string(className), "_id": .string(key.keyText),
            "address": .string(TrashAddress(className, key).text),
            "properties": .array(properties.map(JSON.string)),
            "live": live.map { .string($0.keyText) } ?? .null,
            "choices": .array(choices.map { .string($0.rawValue) }),
        ]
    }

    /// A failure with status 409 that lists all clashes and the possible choices.
    static func failure(_ clashes: [TrashClash]) -> RequestFailure {
        let first = clashes[0]
        let list = first.properties.wordingByAnd
        var message = Wording("A live \(first.className) has the same \(list); nothing was restored.")
        let more = clashes.count - 1
        if more > 0 {
            let others = localized(more, one: "\(more) more object clashes.", other: "\(more) more objects clash.")
            message = Wording(pattern: "{0} {1}", values: [.wording(message), .text(others)])
        }
        var failure = RequestFailure(
            .conflict, message,
            hint: Wording(
                untranslated:
                    "Restore again and choose: 'values' gives it another \(list), 'leave' keeps it in the trash, "
                    + "'swap' moves the live \(first.className) there."), properties: first.properties)
        failure.details = ["clashes": .array(clashes.map(\.json))]
        return failure
    }
}
