import ChildPrograms
import Foundation

/// Kills the processes that a test process leaves behind, however it ends: a shell waits for the end of its standard
/// input and then kills the processes that it was told about.
final class Undertaker: Sendable {
    static let shared = Task { try await Undertaker() }

    private let shell: Dialogue

    private static let script = """
        trap '' HUP INT TERM
        while read -r sign pid; do
            if [ "$sign" = + ]; then list="$list $pid "; else list=$(echo "$list" | sed "s/ $pid / /"); fi
        done
        [ -n "$list" ] && kill -KILL $list 2>/dev/null
        """

    private init() async throws {
        shell = try await Dialogue(URL(fileURLWithPath: "/bin/sh"), ["-c", Self.script])
    }

    func began(_ pid: pid_t) { shell.say("+ \(pid)") }

    func ended(_ pid: pid_t) { shell.say("- \(pid)") }
}
