internal import TomboloModel

/// Names of what the steps make; PostgreSQL cuts longer ones silently, so that two could become one.
enum SchemaName {
    static let maximumByteCount = 63

    static func foreignKey(_ table: String, _ column: String) -> String { fitted("\(table)_\(column)_fkey") }
    static func index(_ table: String, _ columns: [String]) -> String {
        fitted("\(table)_\(columns.joined(separator: "_"))_idx")
    }
    static func unique(_ table: String, _ columns: [String]) -> String {
        fitted("\(table)_\(columns.joined(separator: "_"))_key")
    }
    /// The name is what a writer of plain SQL reads when a row is too large.
    static func rowSize(_ table: String) -> String {
        fitted("\(table)_row_at_most_\(Row.maximumContentByteCount >> 20)_mib")
    }
    static func logFunction(_ classID: Int16) -> String { "log_\(classID)" }
    static func insertFunction(_ classID: Int16) -> String { "log_inserts_\(classID)" }
    static func truncateFunction(_ classID: Int16) -> String { "log_truncate_\(classID)" }
    static func imageFunction(_ classID: Int16) -> String { "image_\(classID)" }
    static func keysFunction(_ classID: Int16) -> String { "image_keys_\(classID)" }
    /// Every write, row by row.
    static let logTrigger = "tombolo_log"
    /// Updates and deletes, row by row, beside the next two.
    static let changeTrigger = "tombolo_log_change"
    /// Inserts, once for each statement.
    static let insertTrigger = "tombolo_log_insert"
    /// Inserts of replication, row by row.
    static let replicaTrigger = "tombolo_log_replica"
    static let truncateTrigger = "tombolo_log_truncate"
    /// Has keys checked at the end of a transaction that deletes: see ``DeferredKeys``.
    static let deferralTrigger = "tombolo_defer_keys"
    static let livePolicy = "tombolo_live"
    /// Gives what goes into the trash a group.
    static let trashGroupTrigger = "tombolo_trash_group"
    /// Forgets the reason of what comes out of the trash.
    static let trashReasonTrigger = "tombolo_trash_reason"
    /// Takes what belongs to it along.
    static let trashTrigger = "tombolo_trash"

    /// A unique index over live rows while it's built beside the one that it replaces.
    static func replacement(ofIndex name: String) -> String { fitted("\(name)_live") }

    private static func fitted(_ name: String) -> String {
        guard name.utf8.count > maximumByteCount else { return name }
        let hash = String(name.stableHash, radix: 36)
        var kept = name
        while kept.utf8.count > maximumByteCount - hash.utf8.count - 1 { kept.removeLast() }
        return "\(kept)_\(hash)"
    }
}
