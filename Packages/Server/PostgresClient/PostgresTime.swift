/// PostgreSQL counts microseconds since 2000-01-01; this client since 1970-01-01. Both UTC.
package enum PostgresTime {
    /// Microseconds from 1970-01-01 to 2000-01-01.
    package static let epochMicroseconds: Int64 = 946_684_800_000_000

    /// `Int64.max` and `.min` stand for infinity and -infinity. A value before PostgreSQL's range is sent as a value
    /// that the server refuses with 22008.
    package static func encode(_ microsecondsSince1970: Int64) -> Int64 {
        if microsecondsSince1970 == .max || microsecondsSince1970 == .min { return microsecondsSince1970 }
        let (value, overflow) = microsecondsSince1970.subtractingReportingOverflow(epochMicroseconds)
        return overflow ? .min + 1 : max(value, .min + 1)
    }

    /// Nil if the time is too late for microseconds since 1970 in an `Int64` (year 294247).
    static func decode(_ serverValue: Int64) -> Int64? {
        if serverValue == .max || serverValue == .min { return serverValue }
        let (value, overflow) = serverValue.addingReportingOverflow(epochMicroseconds)
        return overflow || value == .max ? nil : value
    }
}
