internal import TomboloModel

/// What a search leaves to others: beside other users' devices, reading by a predicate that searches texts pauses again and
/// again, so that it takes about a quarter of a processor of the database, in short pieces. Nothing but the search waits.
///
/// The pauses are part of the statement, drawn for each row that it looks at: a statement can't be divided without planning
/// it anew, and what finds nothing gives the gateway no moment to wait in.
public enum SearchPause {
    /// A search takes this many times as long as it would without pauses.
    public static let stretch = 4
    static let duration = Duration.milliseconds(24)
    /// What one test of a short text takes of a processor, on the machine that was measured. On a slower one, and with longer
    /// texts, the pauses are a smaller share.
    static let testCost = Duration.nanoseconds(75)

    /// An SQL condition that is always true and often takes its time, or nil for a predicate that searches nothing.
    /// - Parameter alias: of the table whose rows are looked at.
    static func condition(for predicate: Predicate, alias: String) -> String? {
        let count = predicate.searchCount
        guard count > 0 else { return nil }
        let probability = Double(count * (stretch - 1)) * (testCost / duration)
        let seconds = duration / .seconds(1)
        // Names a column so that it's tested for each row of this table, also in a join.
        return """
            CASE WHEN \(alias).ctid IS NOT NULL AND pg_catalog.random() < \(probability) \
            THEN pg_catalog.pg_sleep(\(seconds)) IS NOT NULL ELSE TRUE END
            """
    }
}
