/// Milliseconds until a listener was called.
struct NotificationTimes: Codable, Sendable {
    /// From asking for it to the first call.
    var first: Double
    /// From the end of the write to the call.
    var samples: [String: [Double]] = [:]
}
