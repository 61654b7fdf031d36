internal import Foundation

/// The operating system's limit on what this process may have open: files, sockets and pipes. A process that reaches it
/// can't accept connections, and libraries it uses may crash it.
enum OpenFileLimit {
    /// Reserved for everything that isn't a client's connection: database connections, timers, log files.
    static let reserve = 256
    /// The process asks for no more than this, even if the system would grant it.
    static let wanted = 65_536

    /// How many connections fit. Raises the process's soft limit as far as allowed; many systems set it to 1,024.
    static let connections: Int = {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 1_024 - reserve }
        let most = min(limit.rlim_max, rlim_t(wanted))
        if limit.rlim_cur < most {
            let before = limit.rlim_cur
            limit.rlim_cur = most
            if setrlimit(resource, &limit) != 0 { limit.rlim_cur = before }
        }
        return max(1, Int(min(limit.rlim_cur, rlim_t(wanted))) - reserve)
    }()

    #if os(Linux)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
