internal import Foundation
internal import TomboloLocalization
internal import TomboloModel

/// What came of a run of a ``Routine``, as its row has it: in English, and as texts that pages translate.
package struct RoutineResult {
    let english: String
    /// An array of ``StoredMessage``s that says the same; nil if it's too long.
    let json: String?

    /// In bytes.
    private static let maximumJSONByteCount = 4_000

    init(_ messages: [StoredMessage]) {
        let whole = Self.joined(messages.map(\.english))
        english = whole.shortened(toByteCount: Routine.maximumTextByteCount)
        let data = english == whole ? try? JSONEncoder().encode(messages) : nil
        json = data.flatMap { $0.count <= Self.maximumJSONByteCount ? String(decoding: $0, as: UTF8.self) : nil }
    }

    /// What a row has, whichever version of a server wrote it.
    package init(english: String, json: String?) {
        self.english = english
        self.json = json
    }

    /// In the language of the page. Messages that can't be read, or say something else than the English, aren't shown: a server
    /// of an earlier version leaves those of the run before.
    package var translated: String {
        guard let json, let messages = try? JSONDecoder().decode([StoredMessage].self, from: Data(json.utf8)),
            Self.joined(messages.map(\.english)) == english
        else { return english }
        return Self.joined(messages.map(\.translated))
    }

    private static func joined(_ texts: [String]) -> String { texts.joined(separator: ", ") }
}
