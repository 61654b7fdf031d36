import TomboloHTTP
import TomboloLocalization
import TomboloModel

/// Wording for numbers of objects.
enum Counted {
    /// `1 session`, `3 role assignments`, `48,213 listings`.
    static func objects(_ count: Int, of className: String) -> String {
        let words = ClassTitle.words(count == 1 ? className : ClassSchema.collectionName(of: className))
        return localized("\(PanelNumber.text(count)) \(ClassTitle.inSentence(words))", context: "number of a class")
    }

    /// `1 object`, `12 objects`.
    static func objects(_ count: Int) -> String {
        let number = PanelNumber.text(count)
        return localized(count, one: "\(number) object", other: "\(number) objects")
    }
}
