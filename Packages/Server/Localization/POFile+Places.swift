extension POFile.Entry {
    /// Checks that translations have exactly the placeholders of the text. A page would show a placeholder that
    /// nothing fills, and a template could get more than its text.
    /// - Parameter forms: the number of plural forms in the language.
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
            // The form for one thing may spell the number as a word.
            if plural == nil, let missing = own.subtracting(places).min() {
                throw POError(line: line, "The translation of '\(key.text)' lacks \(missing).")
            }
            guard Self.isNested(translation) else {
                throw POError(
                    line: line,
                    "The tags in the translation of '\(key.text)' aren't nested: close the last opened tag first.")
            }
        }
    }

    /// `{0}`, `{{name}}`, `<1>` and `</1>`, and braces that could begin something in a template.
    private static func places(in text: String) -> Set<String> {
        var places: Set<String> = []
        var reader = PlaceReader(text)
        while let place = reader.next() { places.insert(String(place)) }
        return places
    }

    private static func isNested(_ text: String) -> Bool {
        var open: [Substring] = []
        var reader = PlaceReader(text)
        while let place = reader.next() {
            guard place.hasPrefix("<"), !place.hasSuffix("/>") else { continue }
            if !place.hasPrefix("</") {
                open.append(place.dropFirst())
            } else if open.popLast() != place.dropFirst(2) {
                return false
            }
        }
        return open.isEmpty
    }
}

/// Finds the placeholders of a text byte by byte, for speed: files have thousands of texts, and a server reads them
/// when it starts.
private struct PlaceReader {
    private let text: String
    private let bytes: String.UTF8View
    private var index: String.Index

    init(_ text: String) {
        self.text = text
        bytes = text.utf8
        index = bytes.startIndex
    }

    mutating func next() -> Substring? {
        while let start = bytes[index...].firstIndex(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "<") }) {
            let end = bytes[start] == UInt8(ascii: "<") ? tag(from: start) : braces(from: start)
            index = end ?? bytes.index(after: start)
            if let end { return text[start..<end] }
        }
        return nil
    }

    private func byte(at index: String.Index) -> UInt8? { index < bytes.endIndex ? bytes[index] : nil }

    /// `<1>`, `</1>` or `<1/>`
    private func tag(from start: String.Index) -> String.Index? {
        var index = bytes.index(after: start)
        if byte(at: index) == UInt8(ascii: "/") { index = bytes.index(after: index) }
        guard let digits = digits(from: index) else { return nil }
        index = digits
        if byte(at: index) == UInt8(ascii: "/") { index = bytes.index(after: index) }
        return byte(at: index) == UInt8(ascii: ">") ? bytes.index(after: index) : nil
    }

    /// `{0}`, or anything that begins with two braces.
    private func braces(from start: String.Index) -> String.Index? {
        let second = bytes.index(after: start)
        guard byte(at: second) == UInt8(ascii: "{") else {
            guard let end = digits(from: second), byte(at: end) == UInt8(ascii: "}") else { return nil }
            return bytes.index(after: end)
        }
        var index = bytes.index(after: second)
        let inner = bytes[index...].firstIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }
        guard let inner, bytes[inner...].starts(with: "}}".utf8) else { return index }
        index = bytes.index(inner, offsetBy: 2)
        return byte(at: index) == UInt8(ascii: "}") ? bytes.index(after: index) : index
    }

    private func digits(from start: String.Index) -> String.Index? {
        let end = bytes[start...].firstIndex { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? bytes.endIndex
        return end > start ? end : nil
    }
}
