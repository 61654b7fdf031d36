import Foundation

/// A shell that outlives the test process and removes a cluster when that process ends, however it ends.
///
/// It waits for the end of its standard input, whose other end only the test process holds. That needs no polling, and works after
/// kill -9 too.
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
        let input = try Command.makeInput()
        defer { close(input.theirs) }
        writeEnd = input.ours
        pid = try Command.start(["/bin/sh", "-c", Self.script, "watchdog", folder], input: input.theirs)
    }

    /// Lets it do its work, and waits up to a few seconds for that.
    func release() {
        close(writeEnd)
        for _ in 0..<100 {
            var status: Int32 = 0
            if waitpid(pid, &status, WNOHANG) != 0 { return }
            usleep(50_000)
        }
    }
}
