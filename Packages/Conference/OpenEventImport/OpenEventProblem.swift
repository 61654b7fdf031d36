/// Something in an export that can't be imported, with its place.
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
    /// What is left out because of it.
    public internal(set) var extent = Extent.export

    /// What is not imported because of a problem.
    public enum Extent: Hashable, Sendable {
        /// Nothing is imported: the problem is the event's or a whole file's.
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
    /// The records that are set aside; one may have several problems.
    public var recordCount: Int {
        Set(filter { $0.extent == .record }.map { "\($0.file)/\($0.record ?? 0)" }).count
    }

    /// The links that are left out.
    public var linkCount: Int { count { $0.extent == .link } }
}
