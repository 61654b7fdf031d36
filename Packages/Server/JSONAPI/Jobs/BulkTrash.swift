public import Foundation
public import PostgresClient
public import TomboloModel
public import TomboloRules

/// What jobs need of the trash, each in the connection's transaction.
public struct BulkTrash: Sendable {
    /// Moves a live object into the trash, with what goes with it.
    public typealias Move =
        @Sendable (
            _ connection: PostgresConnection, _ schema: Schema, _ className: String, _ key: Value, _ user: ObjectId?,
            _ reason: TrashReason?
        ) async throws -> (group: UUID, count: Int)
    /// Restores the group of an object as far as the rules let the subject.
    /// - Parameter group: that the object must be in; nil for any.
    /// - Returns: how many objects came back; nil if the object isn't in the trash, or in another group.
    public typealias Restore =
        @Sendable (
            _ connection: PostgresConnection, _ rules: Rules, _ subject: Subject, _ className: String, _ key: Value,
            _ group: UUID?
        ) async throws -> Int?

    /// Why the app keeps something of a group from being deleted for ever, as far as the subject may list it in the trash; nil
    /// if nothing keeps it.
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
