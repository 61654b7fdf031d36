import Foundation
import PostgresClient

/// CPU time and memory of processes, from /proc; nil on systems other than Linux.
enum ProcessUsage {
    /// CPU time in seconds so far, in user and system mode.
    static func cpuSeconds(_ processID: Int32) -> Double? {
        guard let fields = statistics(processID) else { return nil }
        return (fields[11] + fields[12]) / clockTicks
    }

    /// The resident memory of a process, in bytes.
    static func residentBytes(_ processID: Int32) -> Int64? {
        guard let text = try? String(contentsOfFile: "/proc/\(processID)/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int64($0) })
        else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Resets the system's record of this process's peak memory (proc(5), clear_refs).
    /// - Returns: the current resident memory, in bytes.
    static func forgetGreatestResidentBytes() -> Int64? {
        guard (try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))) != nil else { return nil }
        return residentBytes(getpid())
    }

    /// The peak resident memory of this process, in bytes.
    static func greatestResidentBytes() -> Int64? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Int64($0) })
        else { return nil }
        return kibibytes << 10
    }

    /// The parent of all of the server's processes; nil if it runs on another machine.
    static func postmaster(_ pool: PostgresPool) async throws -> Int32? {
        let backend = Int32(try await pool.query("SELECT pg_backend_pid()")[0][0].int)
        guard let name = try? String(contentsOfFile: "/proc/\(backend)/comm", encoding: .utf8),
            name.hasPrefix("postgres"), let fields = statistics(backend)
        else { return nil }
        return Int32(fields[1])
    }

    /// CPU time of a process, its children, and its ended children.
    static func treeCPUSeconds(_ processID: Int32) -> Double? {
        guard let own = statistics(processID) else { return nil }
        var ticks = own[11...14].reduce(0, +)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let id = Int32(name), let fields = statistics(id), Int32(fields[1]) == processID else { continue }
            ticks += fields[11] + fields[12]
        }
        return ticks / clockTicks
    }

    /// CPU time of everything on this machine, in seconds since boot (proc(5), stat), except idling and waiting for
    /// disks.
    static func busySeconds() -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
            let fields = text.split(separator: "\n").first?.split(separator: " ").dropFirst().prefix(8)
                .map({ Double($0) ?? 0 }), fields.count == 8
        else { return nil }
        return (fields[0...2].reduce(0, +) + fields[5...7].reduce(0, +)) / clockTicks
    }

    private static var clockTicks: Double { Double(sysconf(Int32(_SC_CLK_TCK))) }

    /// The fields of /proc/PID/stat after the name (proc(5)): 0 the state, 1 the parent, 11 to 14 the user and system
    /// time of the process and of its ended children.
    private static func statistics(_ processID: Int32) -> [Double]? {
        guard let text = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ").map { Double($0) ?? 0 }
        return fields.count > 14 ? fields : nil
    }
}
