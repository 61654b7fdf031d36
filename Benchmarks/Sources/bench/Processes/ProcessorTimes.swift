import Foundation
import PostgresClient

/// CPU time of the participating processes between two moments.
struct ProcessorTimes: Sendable {
    /// In the order of the report.
    private let processes: [(name: String, id: Int32, hasChildren: Bool)]
    private let start: [Double?]
    private let startNanoseconds: Int64

    /// - Parameter processes: gateway, devices, …; PostgreSQL is added.
    init(_ processes: [(String, BenchProcess)], _ database: BenchDatabase) async throws {
        var all = processes.map { (name: $0.0, id: $0.1.processID, hasChildren: false) }
        if let postmaster = try await ProcessUsage.postmaster(database.pool) {
            all.append(("PostgreSQL", postmaster, true))
        }
        all.append(("bench itself", getpid(), false))
        self.processes = all
        start = all.map { Self.cpuSeconds($0) }
        startNanoseconds = Monotonic.nanoseconds
    }

    private static func cpuSeconds(_ process: (name: String, id: Int32, hasChildren: Bool)) -> Double? {
        process.hasChildren ? ProcessUsage.treeCPUSeconds(process.id) : ProcessUsage.cpuSeconds(process.id)
    }

    /// CPU seconds by process since the start.
    func seconds() -> [(name: String, seconds: Double)] {
        zip(processes, start).compactMap { process, start in
            guard let start, let now = Self.cpuSeconds(process) else { return nil }
            return (process.name, now - start)
        }
    }

    /// Percent of one core since the start, as figures.
    func figures(_ prefix: String) -> [Figure] {
        let elapsed = Double(Monotonic.nanoseconds - startNanoseconds) / 1e9
        return seconds().map { Figure("\(prefix): CPU of \($0.name)", "% of a core", $0.seconds / elapsed * 100) }
    }
}
