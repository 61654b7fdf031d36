import TomboloLocalization
package import TomboloModel

extension [String] {
    /// `event`, `event and rank`, in the language of the page.
    package var joinedByAnd: String { wordingByAnd.localized }

    /// ``joinedByAnd`` before it's translated.
    package var wordingByAnd: Wording {
        dropFirst().reduce(Wording(untranslated: first ?? "")) { Wording("\($0) and \($1)") }
    }

    /// `event`, `event or rank`, in the language of the page.
    package var joinedByOr: String {
        dropFirst().reduce(first ?? "") { localized("\($0) or \($1)") }
    }
}
