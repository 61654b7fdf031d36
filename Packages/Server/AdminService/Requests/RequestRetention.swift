public import Foundation
public import TomboloHTTP

/// How long admin servers keep their requests in the database, read from an environment variable.
public struct RequestRetention: Hashable, Sendable {
    public static let variable = "TOMBOLO_REQUEST_LOG_DAYS"
    public static let defaultDays = 5
    static let maximumDays = 90
    /// The most requests that are kept, regardless of age: about 2 GB including the indexes.
    static let maximumRowCount = 5_000_000

    /// 0 keeps no requests.
    public let days: Int

    public init(days: Int = defaultDays) { self.days = days }

    /// - Throws: ``ConfigurationError`` for anything but a number of days.
    public static func ofEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> RequestRetention {
        guard let text = environment[variable], !text.isEmpty else { return RequestRetention() }
        guard let days = Int(text), (0...maximumDays).contains(days) else {
            throw ConfigurationError(problems: [
                "\(variable) is '\(text)': give a number of days from 0 to \(maximumDays); 0 keeps "
                    + "requests in memory only."
            ])
        }
        return RequestRetention(days: days)
    }
}
