import PostgresClient
import TomboloModel

/// How long objects stay in the trash: the table `tombolo.trash_retention`, the single source for all admin servers,
/// the purge and the dates that people see.
struct TrashRetention: Sendable {
    /// By class; nil if objects stay forever. The empty name stands for classes without a row.
    private var days: [String: Int?] = [:]

    /// More than this counts as forever. The limit of 2,700 years keeps dates within PostgreSQL's range.
    private static let maximumDays = 1_000_000

    nonisolated(nonsending) static func read(_ connection: PostgresConnection) async throws -> TrashRetention {
        var result = TrashRetention()
        for row in try await connection.query("SELECT class, days FROM tombolo.trash_retention") {
            let days = try row[1].nonNull?.int
            result.days.updateValue(days.flatMap { $0 > maximumDays ? nil : $0 }, forKey: try row[0].string)
        }
        return result
    }

    /// Nil if objects stay forever. A renamed class also finds its days under its previous names.
    func days(of item: ClassSchema) -> Int? {
        for name in [item.name] + item.previousNames + [""] {
            if let days = days[name] { return days }
        }
        return Trash.retentionDays
    }

    /// When an object of the class that went into the trash at this time is permanently deleted; nil for never.
    /// - Parameter microseconds: services may have written infinity (`Int64.max`) or -infinity (`Int64.min`).
    func purgeTime(of item: ClassSchema, trashedAt microseconds: Int64) -> Int64? {
        days(of: item).flatMap { days in
            let (time, isNever) = microseconds.addingReportingOverflow(Int64(days) * Self.day)
            return isNever ? nil : microseconds == .min ? .min : time
        }
    }

    private static let day: Int64 = 24 * 60 * 60 * 1_000_000

    /// The same in SQL, for a row `o`.
    func time(of item: ClassSchema) -> String {
        guard let days = days(of: item) else { return "'infinity'::timestamptz" }
        // A sum beyond PostgreSQL's last date would fail the whole statement.
        let interval = "make_interval(hours => 24 * \(days))"
        return """
            CASE WHEN o.trashed_at < \(Trash.latestTime) - \(interval) THEN o.trashed_at + \(interval) ELSE 'infinity' END
            """
    }
}
