import TomboloHTTP
import TomboloModel

/// Numbers of objects in words.
enum Counted {
    /// `1 session`, `3 role assignments`, `48,213 listings`.
    static func objects(_ count: Int, of className: String) -> String {
        let words = ClassTitle.words(count == 1 ? className : ClassSchema.collectionName(of: className))
        return "\(PanelNumber.text(count)) \(words.prefix(1).lowercased())\(words.dropFirst())"
    }

    /// `1 object`, `12 objects`.
    static func objects(_ count: Int) -> String { "\(PanelNumber.text(count)) object\(count == 1 ? "" : "s")" }

    /// `was` or `were`, as it follows a number.
    static func were(_ count: Int) -> String { count == 1 ? "was" : "were" }
}
