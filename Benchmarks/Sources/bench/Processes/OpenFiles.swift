import Foundation

/// The system's bound on what a process may have open.
enum OpenFiles {
    /// As many as the most devices of a measurement, and some.
    static let wanted = 10_500

    /// Raises this process's bound as far as needed and possible.
    /// - Throws: when so many files can't be opened.
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
                "A process may have \(limit.rlim_max) files open, and \(count) are needed: raise 'ulimit -Hn', or use "
                    + "--devices.")
        }
    }
}
