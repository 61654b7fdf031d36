import Foundation

/// The system's limit on a process's open files.
enum OpenFiles {
    /// Enough for the most devices of a measurement, plus some.
    static let wanted = 10_500

    /// Raises this process's limit as far as needed and possible.
    /// - Throws: if the limit stays too low.
    static func allow(_ count: Int) throws {
        #if os(Linux)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return }
        limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
        guard setrlimit(resource, &limit) == 0, limit.rlim_cur >= rlim_t(count) else {
            throw BenchError(
                "A process may have \(limit.rlim_max) files open, but \(count) are needed: raise 'ulimit -Hn', or use "
                    + "--devices.")
        }
    }
}
