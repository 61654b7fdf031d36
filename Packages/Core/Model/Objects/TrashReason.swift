/// Why somebody moved an object into the trash, in their own words: plain text, shown verbatim.
public struct TrashReason: Hashable, Sendable {
    /// The maximum length in UTF-8 bytes.
    public static let byteLimit = 1_000

    /// Never empty, and without surrounding whitespace.
    public let text: String

    /// Why a string can't be a reason.
    public enum Defect: Error, Hashable, Sendable {
        case tooLong
        /// It has control characters other than line breaks and tabs.
        case controlCharacters
    }

    /// - Parameter text: what somebody entered. Surrounding whitespace is removed.
    /// - Returns: nil if the text is empty or only whitespace.
    public init?(_ text: String) throws(Defect) {
        let isBlank = { (character: Character) in character.isWhitespace }
        var kept = text.drop(while: isBlank)
        while let last = kept.last, isBlank(last) { kept.removeLast() }
        guard kept.utf8.count <= Self.byteLimit else { throw .tooLong }
        // Browsers send a line break as CR LF.
        let plain = String(kept).replacing("\r\n", with: "\n")
        let isControl = { (scalar: Unicode.Scalar) in
            scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t"
        }
        guard !plain.unicodeScalars.contains(where: isControl) else { throw .controlCharacters }
        guard !plain.isEmpty else { return nil }
        self.text = plain
    }
}
