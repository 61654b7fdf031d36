/// Milliseconds until an observer was called.
struct NotificationTimes: Codable, Sendable {
    /// From adding the observer to its first call.
    var first: Double
    /// From the end of the write to the call.
    var samples: [String: [Double]] = [:]
}
