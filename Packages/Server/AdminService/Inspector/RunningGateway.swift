/// A gateway as the database knows it.
package struct RunningGateway: Hashable, Sendable {
    /// Of the process.
    package let id: String
    /// Host and process, as its own answers say it.
    package let name: String
    /// In microseconds since 1970.
    package let startedAt: Int64
    /// When it last noted that it is there.
    package let seenAt: Int64
    /// Connected devices, as of then.
    package let sessionCount: Int64
    /// Whether that was so short a time ago that it is worth asking.
    package let isAlive: Bool
}
