/// How long a process took for a step, each time.
struct ObjectStoreTimes: Codable, Sendable {
    struct Sample: Codable, Sendable {
        var milliseconds: Double
        /// The process's CPU time, in user and system mode.
        var cpuMilliseconds: Double
        /// A checksum of the result, which must be the same on both sides.
        var check: Int
    }

    /// The first time after the process started and opened the file, which is in the system's page cache.
    var cold: Sample
    /// The following times.
    var warm: [Sample]
}
