public import Foundation
public import PostgresClient
public import TomboloModel
public import TomboloRules

/// The trash operations that jobs need. Each runs in the connection's transaction.
public struct BulkTrash: Sendable {
    /// Moves a live object, with everything that goes with it, into the trash.
    public typealias Move =
        @Sendable (
            _ connection: PostgresConnection, _ schema: Schema, _ className: String, _ key: Value, _ user: ObjectId?,
            _ reason: TrashReason?
        ) async throws -> (group: UUID, count: Int)
    /// Restores the group of an object, as far as the rules permit it to the subject.
    /// - Parameter group: the group that the object must be in; nil for any.
    /// - Returns: how many objects came back; nil if the object isn't in the trash, or is in another group.
    public typealias Restore =
        @Sendable (
            _ connection: PostgresConnection, _ rules: Rules, _ subject: Subject, _ className: String, _ key: Value,
            _ group: UUID?
        ) async throws -> Int?

    /// Why the app keeps something in a group from being purged, if the subject may list that in the trash; nil if
    /// nothing keeps it.
    /// - Parameter className: of the object that took the group along.
    public typealias Keep =
        @Sendable (
            _ connection: PostgresConnection, _ rules: Rules, _ subject: Subject, _ className: String, _ group: UUID
        ) async throws -> String?

    let move: Move
    let restore: Restore
    let keep: Keep

    public init(move: @escaping Move, restore: @escaping Restore, keep: @escaping Keep) {
        self.move = move
        self.restore = restore
        self.keep = keep
    }
}
