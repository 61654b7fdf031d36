/// How long a process took for a step, each time that it did it.
struct ObjectStoreTimes: Codable, Sendable {
    struct Sample: Codable, Sendable {
        var milliseconds: Double
        /// Of the process, in user and system mode.
        var cpuMilliseconds: Double
        /// What came out: the same on both sides.
        var check: Int
    }

    /// The first time since the process began and opened the file, which the system has in memory.
    var cold: Sample
    /// The times after.
    var warm: [Sample]
}
