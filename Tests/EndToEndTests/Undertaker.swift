import Foundation
import Synchronization

/// Ends the processes that a test process leaves behind, however it ends: a shell that waits for the end of its
/// standard input and then kills whom it was told of.
final class Undertaker: Sendable {
    static let shared = Result { try Undertaker() }

    private let input: Mutex<FileHandle>
    private let shell: Mutex<Process>

    private static let script = """
        trap '' HUP INT TERM
        while read -r sign pid; do
            if [ "$sign" = + ]; then list="$list $pid "; else list=$(echo "$list" | sed "s/ $pid / /"); fi
        done
        [ -n "$list" ] && kill -KILL $list 2>/dev/null
        """

    private init() throws {
        // To write to a device that was killed is an error of that test, not the end of all.
        signal(SIGPIPE, SIG_IGN)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.script]
        let pipe = Pipe()
        process.standardInput = pipe
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        input = Mutex(pipe.fileHandleForWriting)
        shell = Mutex(process)
    }

    func began(_ pid: pid_t) { tell("+ \(pid)") }

    func ended(_ pid: pid_t) { tell("- \(pid)") }

    private func tell(_ line: String) {
        input.withLock { try? $0.write(contentsOf: Data((line + "\n").utf8)) }
    }
}
