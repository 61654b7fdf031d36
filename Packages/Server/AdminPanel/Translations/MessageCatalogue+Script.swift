import Foundation
import TomboloLocalization

extension MessageCatalogue {
    /// The context of texts that `panel.js` writes into pages.
    static let scriptContext = "script"

    /// Their translations as a JSON object by English text.
    var scriptWords: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(translations(inContext: Self.scriptContext))).map {
            String(decoding: $0, as: UTF8.self)
        }
            ?? "{}"
    }
}
