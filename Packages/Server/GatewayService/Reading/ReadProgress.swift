/// The progress of a read that may have to wait for its device.
struct ReadProgress: Hashable, Sendable {
    /// For work that never waits for a device.
    static let independent = ReadProgress(isWaitingForDevice: false, takenByteCount: 0)

    /// Whether the read has more to send than the device takes at the moment. False while it waits for the database.
    var isWaitingForDevice: Bool
    /// Bytes that the device has taken since it connected.
    var takenByteCount: Int
}
