/// How a read gets on that may have to wait for its device.
struct ReadProgress: Hashable, Sendable {
    /// Of work that waits for no device.
    static let independent = ReadProgress(isWaitingForDevice: false, takenByteCount: 0)

    /// The read has more to send than the device takes at the moment. A read that waits for the database does not.
    var isWaitingForDevice: Bool
    /// What the device has taken since it connected, in bytes.
    var takenByteCount: Int
}
