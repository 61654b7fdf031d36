import Foundation
import TomboloModel

/// The name of a backup's file: `tombolo-20261127T101446Z.dump`, or `tombolo-20261127T101446Z-auto.dump` for an
/// automatic one. Only servers create names. A name that a client sends is compared with the existing ones and never
/// used as a path.
package struct BackupName: Hashable, Comparable, Sendable {
    package let text: String
    /// When the backup began, in microseconds since 1970: a whole second.
    package let time: Int64
    package let isAutomatic: Bool

    private static let prefix = "tombolo-"
    private static let automaticMark = "-auto"
    private static let suffix = ".dump"
    private static let timeStyle = Date.ISO8601FormatStyle(
        dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted, timeZone: .gmt)

    /// - Parameter time: microseconds since 1970.
    package init(at time: Int64, isAutomatic: Bool) {
        let seconds = time / 1_000_000
        let stamp = Self.timeStyle.format(Date(timeIntervalSince1970: TimeInterval(seconds)))
        text = Self.prefix + stamp + (isAutomatic ? Self.automaticMark : "") + Self.suffix
        self.time = seconds * 1_000_000
        self.isAutomatic = isAutomatic
    }

    /// Nil for anything that ``init(at:isAutomatic:)`` doesn't produce.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.hasSuffix(Self.suffix) else { return nil }
        let middle = text.dropFirst(Self.prefix.count).dropLast(Self.suffix.count)
        let isAutomatic = middle.hasSuffix(Self.automaticMark)
        let stamp = String(isAutomatic ? middle.dropLast(Self.automaticMark.count) : middle)
        guard let date = try? Self.timeStyle.parse(stamp) else { return nil }
        self.init(at: date.microsecondsSince1970, isAutomatic: isAutomatic)
        // Date parsing is lenient, so compare with the canonical form.
        guard self.text == text else { return nil }
    }

    package static func < (a: BackupName, b: BackupName) -> Bool { (a.time, a.text) < (b.time, b.text) }
}
