import PostgresClient
import TomboloModel

/// How long objects stay in the trash: the table `tombolo.trash_retention`, one truth for all admin servers, the purge and
/// the dates that people see.
struct TrashRetention: Sendable {
    /// By class; nil for ever. The empty name stands for classes without a row.
    private var days: [String: Int?] = [:]

    /// More is for ever: 2,700 years, so that no date becomes later than dates can be.
    private static let maximumDays = 1_000_000

    nonisolated(nonsending) static func read(_ connection: PostgresConnection) async throws -> TrashRetention {
        var result = TrashRetention()
        for row in try await connection.query("SELECT class, days FROM tombolo.trash_retention") {
            let days = try row[1].nonNull?.int
            result.days.updateValue(days.flatMap { $0 > maximumDays ? nil : $0 }, forKey: try row[0].string)
        }
        return result
    }

    /// Nil for ever. A class that was renamed has its days under the name that it had, too.
    func days(of item: ClassSchema) -> Int? {
        for name in [item.name] + item.previousNames + [""] {
            if let days = days[name] { return days }
        }
        return Trash.retentionDays
    }

    /// When an object of the class that went into the trash at a time is deleted for ever; nil for never.
    /// - Parameter microseconds: services may have written infinity (`Int64.max`) or -infinity (`Int64.min`).
    func purgeTime(of item: ClassSchema, trashedAt microseconds: Int64) -> Int64? {
        days(of: item).flatMap { days in
            let (time, isNever) = microseconds.addingReportingOverflow(Int64(days) * Self.day)
            return isNever ? nil : microseconds == .min ? .min : time
        }
    }

    private static let day: Int64 = 24 * 60 * 60 * 1_000_000

    /// The same in SQL, of a row `o`.
    func time(of item: ClassSchema) -> String {
        guard let days = days(of: item) else { return "'infinity'::timestamptz" }
        // A sum beyond the last date that PostgreSQL has would fail the whole statement.
        let interval = "make_interval(hours => 24 * \(days))"
        return """
            CASE WHEN o.trashed_at < \(Trash.latestTime) - \(interval) THEN o.trashed_at + \(interval) ELSE 'infinity' END
            """
    }
}
