/// The device's clock: wall time corrected by the server's last time, strictly increasing. A pure value: the wall clock
/// is a parameter.
public struct HybridClock: Hashable, Sendable {
    /// The last stamp issued or seen.
    public private(set) var last: Stamp
    /// Server time minus the device's wall clock, in microseconds, at the last batch.
    public private(set) var offsetMicroseconds: Int64

    /// Continues from the values stored in the device file; the defaults are for a new file.
    public init(last: Stamp = Stamp(microseconds: 0), offsetMicroseconds: Int64 = 0) {
        self.last = last
        self.offsetMicroseconds = offsetMicroseconds
    }

    /// The stamp of a new changeset, later than all earlier ones.
    public mutating func next(wallMicroseconds: Int64) -> Stamp {
        let corrected = wallMicroseconds.addingReportingOverflow(offsetMicroseconds)
        let wall = corrected.overflow ? wallMicroseconds : corrected.partialValue
        last = Stamp(microseconds: max(wall, last.microseconds == .max ? .max : last.microseconds + 1))
        return last
    }

    /// Adopts the server time of a batch, so that edits made after seeing the batch have later stamps.
    public mutating func adopt(serverTime: Stamp, wallMicroseconds: Int64) {
        offsetMicroseconds = serverTime.microseconds.subtractingReportingOverflow(wallMicroseconds).partialValue
        last = max(last, serverTime)
    }
}
