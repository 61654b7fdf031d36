import Synchronization

/// Reads a process's memory ten times a second.
final class MemoryWatch: Sendable {
    private let greatest: Mutex<Int64>
    private let start: Int64
    private let task: Mutex<Task<Void, Never>?> = Mutex(nil)

    /// - Throws: if memory can't be read (on systems other than Linux).
    init(_ processID: Int32) throws {
        guard let start = ProcessUsage.residentBytes(processID) else {
            throw BenchError("The memory of a process cannot be read on this system.")
        }
        self.start = start
        greatest = Mutex(start)
        let watching = Task { [weak self] in
            while !Task.isCancelled {
                guard let self else { return }
                if let now = ProcessUsage.residentBytes(processID) { greatest.withLock { $0 = max($0, now) } }
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        task.withLock { $0 = watching }
    }

    /// Megabytes at the start, and the maximum so far.
    var megabytes: (start: Double, greatest: Double) { (Double(start) / 1e6, greatest.withLock { Double($0) / 1e6 }) }

    func stop() { task.withLock { $0?.cancel() } }
}
