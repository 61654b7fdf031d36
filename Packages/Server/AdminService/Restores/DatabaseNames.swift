import Foundation
import TomboloModel

/// The names of databases during and after a restore.
struct DatabaseNames: Sendable {
    /// PostgreSQL truncates longer names. In bytes.
    private static let maximumByteCount = 63
    private static let nextSuffix = "_restoring"
    private static let timeStyle = Date.ISO8601FormatStyle(
        dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted, timeZone: .gmt)
    private static let keptMiddle = "_before_"

    /// The database that the servers use.
    let current: String

    /// The database that a backup is restored into.
    var next: String { current + Self.nextSuffix }

    /// The current database's name after another has taken its place, such as `app_before_20261128T024500Z`.
    /// - Parameter time: microseconds since 1970.
    func kept(at time: Int64) -> String {
        current + Self.keptMiddle + Self.timeStyle.format(Date(timeIntervalSince1970: TimeInterval(time / 1_000_000)))
    }

    /// When a database was put aside, in microseconds since 1970.
    /// - Returns: nil if the name doesn't have this form, with the current database's name.
    func time(ofKept name: String) -> Int64? {
        let prefix = current + Self.keptMiddle
        guard name.hasPrefix(prefix), let date = try? Self.timeStyle.parse(String(name.dropFirst(prefix.count))) else {
            return nil
        }
        let time = date.microsecondsSince1970
        // Date parsing is lenient, so compare with the canonical form.
        return kept(at: time) == name ? time : nil
    }

    /// Why the database can't be restored; nil if it can.
    var problem: String? {
        let length = kept(at: 0).utf8.count
        guard length > Self.maximumByteCount else { return nil }
        return
            "The database's name \(current) is too long: a database that is put aside gets the time added to its name, "
            + "which would then have \(length) bytes. PostgreSQL's limit is \(Self.maximumByteCount). "
            + "Restore on the command line: see docs/backups.md."
    }
}
