/// PostgreSQL counts microseconds from 2000-01-01, values here from 1970-01-01.
enum PostgresEpoch {
    static let microseconds: Int64 = 946_684_800_000_000
}
