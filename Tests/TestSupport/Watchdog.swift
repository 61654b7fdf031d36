import Foundation

/// A shell that outlives the test process and removes a cluster when that process ends, however it ends.
///
/// It waits for the end of its standard input, whose other end only the test process holds: no polling, and kill -9
/// works too.
final class Watchdog: Sendable {
    private let writeEnd: Int32
    private let pid: pid_t

    private static let script = """
        trap '' HUP INT TERM
        read -r line
        pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
        if [ -n "$pid" ]; then
            kill -QUIT "$pid" 2>/dev/null
            n=0
            while [ -e "$1/data/postmaster.pid" ] && [ "$n" -lt 50 ]; do n=$((n + 1)); sleep 0.1; done
            [ -e "$1/data/postmaster.pid" ] && kill -KILL "$pid" 2>/dev/null
        fi
        rm -rf "$1"
        """

    init(folder: String) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TestClusterError("pipe: \(String(cString: strerror(errno)))") }
        // Other children of this process must not keep the pipe open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        writeEnd = ends[1]
        pid = try Command.start(["/bin/sh", "-c", Self.script, "watchdog", folder], input: ends[0])
    }

    /// Lets it do its work, and waits for that at most some seconds.
    func release() {
        close(writeEnd)
        for _ in 0..<100 {
            var status: Int32 = 0
            if waitpid(pid, &status, WNOHANG) != 0 { return }
            usleep(50_000)
        }
    }
}
