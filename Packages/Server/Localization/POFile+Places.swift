extension POFile.Entry {
    /// Checks that translations have the places of the text, and no others: a page would show a place that nothing fills, and
    /// a template could be given more than its text.
    /// - Parameter forms: how many the language has for numbers.
    func check(forms: Int) throws(POError) {
        let own = Self.places(in: key.text)
        let all = own.union(plural.map(Self.places) ?? [])
        if plural != nil, translations.count != forms {
            throw POError(
                line: line, "'\(key.text)' has \(translations.count) forms, and the language has \(forms).")
        }
        for translation in translations {
            let places = Self.places(in: translation)
            if let foreign = places.subtracting(all).min() {
                throw POError(
                    line: line, "The translation of '\(key.text)' has \(foreign), which the text doesn't have.")
            }
            // One thing may be written as a word.
            if plural == nil, let missing = own.subtracting(places).min() {
                throw POError(line: line, "The translation of '\(key.text)' lacks \(missing).")
            }
            guard Self.isNested(translation) else {
                throw POError(
                    line: line,
                    "The tags in the translation of '\(key.text)' aren't closed in the order they were opened.")
            }
        }
    }

    /// `{0}`, `{{name}}`, `<1>` and `</1>`.
    static func places(in text: String) -> Set<String> {
        var places: Set<String> = []
        for match in text.matches(of: /\{\{[^{}]*\}\}\}?|\{\d+\}|<\/?\d+\/?>|\{\{/) {
            places.insert(String(match.output))
        }
        return places
    }

    private static func isNested(_ text: String) -> Bool {
        var open: [Substring] = []
        for match in text.matches(of: /<(\/?)(\d+)(\/?)>/) {
            let (_, end, number, void) = match.output
            if !void.isEmpty { continue }
            if end.isEmpty {
                open.append(number)
            } else if open.popLast() != number {
                return false
            }
        }
        return open.isEmpty
    }
}
