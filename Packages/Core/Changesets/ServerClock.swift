/// What time it is on the server: what it said last, and how long ago that was. Pure: the time is a parameter, in microseconds
/// of a clock that nobody sets and that goes on while the device sleeps.
public struct ServerClock: Hashable, Sendable {
    private let said: Stamp
    private let moment: Int64

    /// - Parameter microseconds: when it was said.
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
