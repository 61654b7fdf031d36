/// Something in an export that cannot be imported, with its place.
public struct OpenEventProblem: Hashable, Sendable, CustomStringConvertible {
    /// The file's name in the export's folder.
    public let file: String
    /// Which record of the file, from 1; nil where the problem is about the file.
    public let record: Int?
    /// The record's own id, where it has one.
    public let id: String?
    /// The field, as the file writes it where it is there.
    public let field: String?
    public let expected: String
    public let found: String

    public var description: String {
        var place = file
        if let record { place += ", record \(record)" }
        if let id { place += " (id \(id))" }
        if let field { place += ", field '\(field)'" }
        return "\(place): expected \(expected), found \(found)."
    }
}
