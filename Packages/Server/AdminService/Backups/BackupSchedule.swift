import TomboloHTTP

/// How often backups are made automatically, and how many of them are kept.
public struct BackupSchedule: Hashable, Sendable {
    /// A year.
    static let maximumHours = 8_760
    /// The most automatic backups that can be kept. As many again may be made by hand, see ``Backups/maximumCount``.
    static let maximumKeptCount = 500

    /// From the start of one automatic backup to the start of the next; nil for none.
    public var interval: Duration? = .seconds(BackupSettings.defaultHours * 3_600)
    /// How many automatic backups are kept.
    public var keptCount = BackupSettings.defaultKeptCount

    public init() {}

    /// - Parameter hours: the variable's value.
    /// - Throws: `ConfigurationError` for anything but a number within the bounds.
    static func interval(_ hours: String) throws(ConfigurationError) -> Duration? {
        let hours = try number(
            hours, BackupSettings.intervalVariable, 0...maximumHours, "hours, or 0 for no automatic backups")
        return hours == 0 ? nil : .seconds(hours * 3_600)
    }

    /// - Parameter count: the variable's value.
    /// - Throws: `ConfigurationError` for anything but a number within the bounds.
    static func keptCount(_ count: String) throws(ConfigurationError) -> Int {
        try number(count, BackupSettings.keptVariable, 1...maximumKeptCount, "a number of backups")
    }

    private static func number(
        _ text: String, _ name: String, _ range: ClosedRange<Int>, _ unit: String
    ) throws(ConfigurationError) -> Int {
        if let number = Int(text), range.contains(number) { return number }
        throw ConfigurationError(problems: [
            "\(name) is '\(text)': give \(unit), from \(range.lowerBound) to \(range.upperBound)."
        ])
    }
}
