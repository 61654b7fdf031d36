import Foundation
import TomboloHTTP

/// The addresses that links may have: `http`, `https` and `mailto`. A link with any other address stays text.
enum MarkdownAddress {
    static let maximumLength = 2_048
    private static let maximumTitleLength = 1_000
    /// How deeply parentheses in an address may be nested.
    private static let maximumNesting = 4

    static func checked(_ text: String) -> String? {
        if let address = HTMLPage.webAddress(text) { return address }
        let scheme = "mailto:"
        guard text.utf8.count <= maximumLength, text.prefix(scheme.count).lowercased() == scheme,
            text.utf8.count > scheme.utf8.count, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f })
        else { return nil }
        return text
    }

    /// The address in `<address>`.
    /// - Parameter start: the position after the `<`.
    /// - Returns: the address and the position after the `>`, or nil if it isn't an address.
    static func inAngles(_ text: MarkdownScalars, from start: Int) -> (address: String, end: Int)? {
        let part = text[start...].prefix(maximumLength + 1).prefix { $0 != ">" && $0 != "<" && $0.value > 0x20 }
        guard part.endIndex < text.count, text[part.endIndex] == ">", let address = checked(string(part)) else {
            return nil
        }
        return (address, part.endIndex + 1)
    }

    /// The address in `(address)` or `(address "title")`. Titles are left out, because only readers with a mouse
    /// would see them.
    /// - Parameter start: the position of the `(`.
    /// - Returns: the address and the position after the `)`, or nil if it isn't an address.
    static func inParentheses(_ text: MarkdownScalars, from start: Int) -> (address: String, end: Int)? {
        guard start < text.count, text[start] == "(" else { return nil }
        var position = skipped(text, from: start + 1)
        guard let address = destination(text, &position), let checked = checked(address) else { return nil }
        let afterAddress = position
        position = skipped(text, from: position)
        if position > afterAddress, position < text.count, text[position] == "\"" || text[position] == "'" {
            guard let end = titleEnd(text, from: position) else { return nil }
            position = skipped(text, from: end)
        }
        guard position < text.count, text[position] == ")" else { return nil }
        return (checked, position + 1)
    }

    private static func skipped(_ text: MarkdownScalars, from start: Int) -> Int {
        text[start...].firstIndex { $0 != " " && $0 != "\n" && $0 != "\t" } ?? text.count
    }

    private static func destination(_ text: MarkdownScalars, _ position: inout Int) -> String? {
        var result: MarkdownScalars = []
        let isInAngles = position < text.count && text[position] == "<"
        if isInAngles { position += 1 }
        var nesting = 0
        while position < text.count, result.count <= maximumLength {
            let scalar = text[position]
            if isInAngles {
                if scalar == ">" {
                    position += 1
                    return string(result[...])
                }
                if scalar == "<" || scalar == "\n" { return nil }
            } else {
                if scalar.value <= 0x20 || scalar == ")" && nesting == 0 { return string(result[...]) }
                if scalar == "(" { nesting += 1 } else if scalar == ")" { nesting -= 1 }
                if nesting > maximumNesting { return nil }
            }
            if scalar == "\\", position + 1 < text.count, text[position + 1].isMarkdownPunctuation { position += 1 }
            result.append(text[position])
            position += 1
        }
        return nil
    }

    private static func titleEnd(_ text: MarkdownScalars, from start: Int) -> Int? {
        var position = start + 1
        while position < text.count, position - start <= maximumTitleLength {
            if text[position] == text[start] { return position + 1 }
            position += text[position] == "\\" ? 2 : 1
        }
        return nil
    }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }
}

extension Unicode.Scalar {
    /// The ASCII characters that lose their meaning after a backslash.
    var isMarkdownPunctuation: Bool {
        switch value {
        case 0x21...0x2f, 0x3a...0x40, 0x5b...0x60, 0x7b...0x7e: true
        default: false
        }
    }
}
