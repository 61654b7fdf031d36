/// The database's record of a gateway.
package struct RunningGateway: Hashable, Sendable {
    /// Identifies the process.
    package let id: String
    /// Host and process, as in the gateway's own answers.
    package let name: String
    /// In microseconds since 1970.
    package let startedAt: Int64
    /// When it last reported.
    package let seenAt: Int64
    /// The number of connected devices in that report.
    package let sessionCount: Int64
    /// Whether the report is recent enough for it to be worth asking.
    package let isAlive: Bool
}
