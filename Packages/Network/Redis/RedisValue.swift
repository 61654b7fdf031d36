/// A value that a server sends, in RESP2 (https://redis.io/docs/latest/develop/reference/protocol-spec).
package enum RedisValue: Hashable, Sendable {
    case simple(String)
    /// Only the first word, such as `NOAUTH`. The rest may quote what was sent, including passwords.
    case error(code: String)
    case integer(Int64)
    /// Nil for a null.
    case bulk([UInt8]?)
    case array([RedisValue]?)
}
