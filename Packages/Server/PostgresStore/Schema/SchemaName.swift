internal import TomboloModel

/// Names of everything that the steps create. PostgreSQL silently truncates names that are too long, so two could
/// collide.
enum SchemaName {
    static let maximumByteCount = 63

    static func foreignKey(_ table: String, _ column: String) -> String { fitted("\(table)_\(column)_fkey") }
    static func index(_ table: String, _ columns: [String]) -> String {
        fitted("\(table)_\(columns.joined(separator: "_"))_idx")
    }
    static func unique(_ table: String, _ columns: [String]) -> String {
        fitted("\(table)_\(columns.joined(separator: "_"))_key")
    }
    /// Services that write plain SQL see this name in the error when a row is too large.
    static func rowSize(_ table: String) -> String {
        fitted("\(table)_row_at_most_\(Row.maximumContentByteCount >> 20)_mib")
    }
    static func logFunction(_ classID: Int16) -> String { "log_\(classID)" }
    static func insertFunction(_ classID: Int16) -> String { "log_inserts_\(classID)" }
    static func truncateFunction(_ classID: Int16) -> String { "log_truncate_\(classID)" }
    static func imageFunction(_ classID: Int16) -> String { "image_\(classID)" }
    static func keysFunction(_ classID: Int16) -> String { "image_keys_\(classID)" }
    /// Logs every write, row by row.
    static let logTrigger = "tombolo_log"
    /// Logs updates and deletes, row by row. Used together with the next two.
    static let changeTrigger = "tombolo_log_change"
    /// Logs inserts, once per statement.
    static let insertTrigger = "tombolo_log_insert"
    /// Logs inserts from replication, row by row.
    static let replicaTrigger = "tombolo_log_replica"
    static let truncateTrigger = "tombolo_log_truncate"
    /// Defers foreign key checks to the end of a deleting transaction: see ``DeferredKeys``.
    static let deferralTrigger = "tombolo_defer_keys"
    static let livePolicy = "tombolo_live"
    /// Gives objects that go into the trash a group.
    static let trashGroupTrigger = "tombolo_trash_group"
    /// Clears the reason of objects that leave the trash.
    static let trashReasonTrigger = "tombolo_trash_reason"
    /// Takes what belongs to an object into the trash with it.
    static let trashTrigger = "tombolo_trash"

    /// A unique index over live rows while it's built beside the index that it replaces.
    static func replacement(ofIndex name: String) -> String { fitted("\(name)_live") }

    private static func fitted(_ name: String) -> String {
        guard name.utf8.count > maximumByteCount else { return name }
        let hash = String(name.stableHash, radix: 36)
        var kept = name
        while kept.utf8.count > maximumByteCount - hash.utf8.count - 1 { kept.removeLast() }
        return "\(kept)_\(hash)"
    }
}
