internal import Foundation

/// The process as the operating system sees it, with the names that Prometheus's own libraries use.
public enum ProcessMetrics {
    public static let processorSeconds = MetricDefinition(
        "process_cpu_seconds_total", .counter, "CPU time used by the process, in seconds.")
    public static let residentBytes = MetricDefinition(
        "process_resident_memory_bytes", .gauge, "Resident memory of the process, in bytes.")
    public static let virtualBytes = MetricDefinition(
        "process_virtual_memory_bytes", .gauge, "Address space of the process, in bytes.")
    public static let startSeconds = MetricDefinition(
        "process_start_time_seconds", .gauge, "When the process started, in seconds since 1970.")
    public static let openFiles = MetricDefinition(
        "process_open_fds", .gauge, "Open file descriptors of the process: files, sockets and pipes.")
    public static let maximumOpenFiles = MetricDefinition(
        "process_max_fds", .gauge, "The limit of open file descriptors.")

    public static let definitions = [
        processorSeconds, residentBytes, virtualBytes, startSeconds, openFiles, maximumOpenFiles,
    ]

    /// The system's current figures. Figures that the system doesn't provide are left out.
    @Sendable public static func samples() -> [MetricSample] {
        var samples: [MetricSample] = []
        var usage = rusage()
        if getrusage(resourceOfProcess, &usage) == 0 {
            let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            let microseconds = Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
            samples.append(MetricSample(processorSeconds, seconds + microseconds / 1_000_000))
        }
        var limit = rlimit()
        if getrlimit(openFilesResource, &limit) == 0 {
            samples.append(MetricSample(maximumOpenFiles, Double(limit.rlim_cur)))
        }
        #if os(Linux)
            if let memory = memory() {
                samples.append(MetricSample(virtualBytes, memory.virtual))
                samples.append(MetricSample(residentBytes, memory.resident))
            }
            if let start = startTime { samples.append(MetricSample(startSeconds, start)) }
            if let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
                samples.append(MetricSample(openFiles, files.count))
            }
        #endif
        return samples
    }

    /// In bytes, or nil if the system doesn't provide it.
    public static var residentByteCount: Int? {
        #if os(Linux)
            memory()?.resident
        #else
            nil
        #endif
    }

    #if os(Linux)
        private static var resourceOfProcess: __rusage_who_t { __rusage_who_t(RUSAGE_SELF.rawValue) }
        private static var openFilesResource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }

        /// Reads `statm`, in pages; see proc(5).
        private static func memory() -> (virtual: Int, resident: Int)? {
            guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
            let fields = text.split(separator: " ").compactMap { Int($0) }
            guard fields.count >= 2 else { return nil }
            let page = sysconf(Int32(_SC_PAGESIZE))
            return (fields[0] * page, fields[1] * page)
        }

        /// Reads field 22 of `stat`, the start time in clock ticks since boot, and `btime` in `/proc/stat`, the boot
        /// time; see proc(5).
        private static let startTime: Double? = {
            guard let own = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
                let end = own.lastIndex(of: ")"),
                let system = try? String(contentsOfFile: "/proc/stat", encoding: .utf8)
            else { return nil }
            // Field 3 follows the name, which may contain anything.
            let fields = own[own.index(after: end)...].split(separator: " ")
            let boot = system.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap {
                Double($0.dropFirst("btime ".count))
            }
            guard fields.count > 19, let ticks = Double(fields[19]), let boot else { return nil }
            return boot + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        }()
    #else
        private static var resourceOfProcess: Int32 { RUSAGE_SELF }
        private static var openFilesResource: Int32 { RLIMIT_NOFILE }
    #endif
}
