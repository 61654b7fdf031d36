/// Something in an export that can't be imported, with its location.
public struct OpenEventProblem: Hashable, Sendable, CustomStringConvertible {
    /// The file's name in the export's folder.
    public let file: String
    /// The record's number in the file, from 1; nil if the problem concerns the file.
    public let record: Int?
    /// The record's own id, if it has one.
    public let id: String?
    /// The field, spelled as in the file if it's there.
    public let field: String?
    public let expected: String
    public let found: String
    /// What is left out because of it.
    public internal(set) var extent = Extent.export

    /// What isn't imported because of a problem.
    public enum Extent: Hashable, Sendable {
        /// Nothing is imported: the problem concerns the event or a whole file.
        case export
        /// The record is set aside.
        case record
        /// The record is imported without the link.
        case link
    }

    public var description: String {
        var place = file
        if let record { place += ", record \(record)" }
        if let id { place += " (id \(id))" }
        if let field { place += ", field '\(field)'" }
        return "\(place): expected \(expected), found \(found)."
    }
}

extension [OpenEventProblem] {
    /// The number of records that are set aside. One record may have several problems.
    public var recordCount: Int {
        Set(filter { $0.extent == .record }.map { "\($0.file)/\($0.record ?? 0)" }).count
    }

    /// The number of links that are left out.
    public var linkCount: Int { count { $0.extent == .link } }
}
