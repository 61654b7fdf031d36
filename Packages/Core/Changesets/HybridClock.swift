/// The device's clock: wall time corrected by what the server last said, never standing still or going back.
/// Pure: the wall clock is a parameter.
public struct HybridClock: Hashable, Sendable {
    /// The last stamp given out or seen.
    public private(set) var last: Stamp
    /// Server time minus the device's wall clock, in microseconds, at the last batch.
    public private(set) var offsetMicroseconds: Int64

    public init(last: Stamp = Stamp(microseconds: 0), offsetMicroseconds: Int64 = 0) {
        self.last = last
        self.offsetMicroseconds = offsetMicroseconds
    }

    /// The stamp of a new changeset: later than every earlier one.
    public mutating func next(wallMicroseconds: Int64) -> Stamp {
        let corrected = wallMicroseconds.addingReportingOverflow(offsetMicroseconds)
        let wall = corrected.overflow ? wallMicroseconds : corrected.partialValue
        last = Stamp(microseconds: max(wall, last.microseconds == .max ? .max : last.microseconds + 1))
        return last
    }

    /// Adopts the server time of a batch, so that edits made after seeing it are later than it.
    public mutating func adopt(serverTime: Stamp, wallMicroseconds: Int64) {
        offsetMicroseconds = serverTime.microseconds.subtractingReportingOverflow(wallMicroseconds).partialValue
        last = max(last, serverTime)
    }
}
