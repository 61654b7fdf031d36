import Foundation

/// The part of the process table that killing a whole server needs.
enum ServerProcesses {
    static func children(of parent: pid_t) throws -> [pid_t] {
        let table = try Command.run(["/bin/ps", "-A", "-o", "pid=,ppid="])
        return table.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ").compactMap { pid_t($0) }
            return fields.count == 2 && fields[1] == parent ? fields[0] : nil
        }
    }

    /// A process that has ended but hasn't been reaped (a zombie) doesn't count as running.
    static func isRunning(_ pid: pid_t) -> Bool {
        guard kill(pid, 0) == 0 else { return false }
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let state = stat.split(separator: ")").last?.split(separator: " ").first
        else { return true }
        return state != "Z" && state != "X"
    }
}
