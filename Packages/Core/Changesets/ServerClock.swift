/// Estimates the server's time from what the server last said and how long ago that was. A pure value: the device's
/// time is a parameter, in microseconds of a clock that can't be set and that keeps running while the device sleeps.
public struct ServerClock: Hashable, Sendable {
    private let said: Stamp
    private let moment: Int64

    /// - Parameter microseconds: when the server said it, on the device's clock.
    public init(_ said: Stamp, at microseconds: Int64) {
        self.said = said
        moment = microseconds
    }

    public func time(at microseconds: Int64) -> Stamp {
        let passed = microseconds.subtractingReportingOverflow(moment)
        let sum = said.microseconds.addingReportingOverflow(max(0, passed.partialValue))
        return passed.overflow || sum.overflow ? said : Stamp(microseconds: sum.partialValue)
    }
}
