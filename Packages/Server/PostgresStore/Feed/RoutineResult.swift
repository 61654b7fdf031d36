internal import Foundation
internal import TomboloLocalization
internal import TomboloModel

/// The result of a run of a ``Routine`` as its row stores it: in English, and as messages that pages translate.
package struct RoutineResult {
    let english: String
    /// The same as a JSON array of ``StoredMessage``s, or nil if that is too long.
    let json: String?

    /// In bytes.
    private static let maximumJSONByteCount = 4_000

    init(_ messages: [StoredMessage]) {
        let whole = Self.joined(messages.map(\.english))
        english = whole.shortened(toByteCount: Routine.maximumTextByteCount)
        let data = english == whole ? try? JSONEncoder().encode(messages) : nil
        json = data.flatMap { $0.count <= Self.maximumJSONByteCount ? String(decoding: $0, as: UTF8.self) : nil }
    }

    /// Creates a result from a row that any version of a server may have written.
    package init(english: String, json: String?) {
        self.english = english
        self.json = json
    }

    /// The result in the page's language. Falls back to English if the messages can't be read or don't match the
    /// English text: a server of an earlier version leaves the previous run's messages in place.
    package var translated: String {
        guard let json, let messages = try? JSONDecoder().decode([StoredMessage].self, from: Data(json.utf8)),
            Self.joined(messages.map(\.english)) == english
        else { return english }
        return Self.joined(messages.map(\.translated))
    }

    private static func joined(_ texts: [String]) -> String { texts.joined(separator: ", ") }
}
