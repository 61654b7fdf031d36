/// Why somebody moved an object into the trash, in their own words: plain text, which is shown as it is.
public struct TrashReason: Hashable, Sendable {
    /// In bytes of UTF-8.
    public static let byteLimit = 1_000

    /// Neither empty nor with blanks around it.
    public let text: String

    /// What keeps a text from being a reason.
    public enum Defect: Error, Hashable, Sendable {
        case tooLong
        /// Control characters besides line breaks and tabs.
        case controlCharacters
    }

    /// - Parameter text: what somebody entered; blanks around it are left out.
    /// - Returns: nil for text without anything in it.
    public init?(_ text: String) throws(Defect) {
        let isBlank = { (character: Character) in character.isWhitespace }
        var kept = text.drop(while: isBlank)
        while let last = kept.last, isBlank(last) { kept.removeLast() }
        guard kept.utf8.count <= Self.byteLimit else { throw .tooLong }
        // Browsers send line breaks as two characters.
        let plain = String(kept).replacing("\r\n", with: "\n")
        let isControl = { (scalar: Unicode.Scalar) in
            scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t"
        }
        guard !plain.unicodeScalars.contains(where: isControl) else { throw .controlCharacters }
        guard !plain.isEmpty else { return nil }
        self.text = plain
    }
}
