/// Why a connection to Redis ended. Another attempt may help, unless the error says what somebody has to do.
package enum RedisError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server replied with an error that has this code.
    case refused(code: String)
    /// The server sent something that isn't RESP2, or an unexpected reply.
    case violation(String)
    /// The server sent nothing for this long, although it was pinged.
    case silent(Duration)
    case insecure(String)
    case closed

    package var description: String {
        switch self {
        case .refused(let code):
            switch code {
            case "WRONGPASS": "Redis refused the user name or password: check the address in the configuration."
            case "NOAUTH": "Redis requires a password: put it in the address, redis://user:password@host."
            case "NOPERM": "Redis doesn't let this user publish or subscribe: grant it access to the channel."
            default: "Redis replied with \(code.isEmpty ? "an unnamed error" : "the error \(code)")."
            }
        case .violation(let what): "Redis sent \(what). Is it a Redis server?"
        case .silent(let time): "Redis sent nothing for \(time)."
        case .insecure(let reason): reason
        case .closed: "Redis closed the connection."
        }
    }
}
