public import Foundation

/// An applied step as recorded in the database.
public struct MigrationRecord: Hashable, Sendable {
    /// Counted from 1, without gaps.
    public let number: Int
    public let name: String
    /// SHA-256 of the SQL in hexadecimal.
    public let checksum: String
    public let appliedAt: Date
    /// The database role that applied it.
    public let appliedBy: String
    /// Whether the recorded SQL still has the recorded checksum.
    public let isIntact: Bool
}
