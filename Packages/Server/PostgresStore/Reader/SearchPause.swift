internal import TomboloModel

/// Slows down searches so that they leave database time to others. When other users' devices are connected, reading
/// with a predicate that searches text pauses again and again, and uses about a quarter of one database processor in
/// short bursts. Only the search itself waits.
///
/// The pauses are part of the statement, drawn at random for each row that it examines. A statement can't be split
/// without planning it anew, and a search that finds nothing gives the gateway no moment to pause in.
public enum SearchPause {
    /// A search takes this many times as long as it would without pauses.
    public static let stretch = 4
    static let duration = Duration.milliseconds(24)
    /// The processor time of one test of a short text, as measured on one machine. With a slower machine or longer
    /// texts, the pauses are a smaller share.
    static let testCost = Duration.nanoseconds(75)

    /// An SQL condition that is always true but pauses at random, or nil if the predicate searches no text.
    /// - Parameter alias: the alias of the table whose rows are examined.
    static func condition(for predicate: Predicate, alias: String) -> String? {
        let count = predicate.searchCount
        guard count > 0 else { return nil }
        let probability = Double(count * (stretch - 1)) * (testCost / duration)
        let seconds = duration / .seconds(1)
        // Refers to a column, so that PostgreSQL evaluates it for each row of this table, even in a join.
        return """
            CASE WHEN \(alias).ctid IS NOT NULL AND pg_catalog.random() < \(probability) \
            THEN pg_catalog.pg_sleep(\(seconds)) IS NOT NULL ELSE TRUE END
            """
    }
}
