/// A device does not take the end of its session.
struct StalledConnectionError: Error, CustomStringConvertible {
    let limit: Duration

    var description: String { "The device took nothing of its session's end for \(limit)." }
}
