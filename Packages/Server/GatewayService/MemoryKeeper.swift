internal import Foundation

/// Returns memory to the system after a peak. Freed memory stays with the process until the allocator is told to
/// return it: after ten thousand devices have left, nine tenths of a gateway's memory is free, but still allocated to
/// the process.
struct MemoryKeeper {
    /// How often to check the number of connections.
    static let lookInterval = Duration.seconds(3)
    /// Memory is also returned after this many checks even if no device left, because uploads and batches cause peaks
    /// too.
    static let looksBetweenReturns = 20
    /// Memory is returned sooner if at least this many connections, and at least a quarter of the highest number,
    /// have left. The same applies to new connections, because the memory for opening them is free again.
    static let minimumChangeCount = 500

    private var mostCount = 0
    private var lastCount = 0
    /// The number of connections when memory was last returned.
    private var countBefore = 0
    private var looks = 0
    /// Memory of the devices that left may only be freed a moment later.
    private var isOwedAgain = false

    /// Whether to return memory now.
    /// - Parameter count: the number of connected devices.
    mutating func look(at count: Int) -> Bool {
        let (isLeaving, isArriving) = (count < lastCount, count > lastCount)
        lastCount = count
        mostCount = max(mostCount, count)
        looks += 1
        let (drop, rise) = (mostCount - count, count - countBefore)
        // Not while more devices are leaving or arriving: their memory is only freed later.
        let isAfterPeak = !isLeaving && drop >= Self.minimumChangeCount && drop >= mostCount / 4
        let isAfterRush = !isArriving && rise >= Self.minimumChangeCount && rise >= count / 4
        guard isAfterPeak || isAfterRush || isOwedAgain || looks >= Self.looksBetweenReturns else { return false }
        isOwedAgain = isAfterPeak
        mostCount = count
        countBefore = count
        looks = 0
        return true
    }

    /// Tells the allocator to return whole unused pages. Takes milliseconds, and other threads that allocate wait for
    /// part of that time.
    static func giveBack() {
        #if canImport(Darwin)
            malloc_zone_pressure_relief(nil, 0)
        #else
            // A glibc function that no module map declares. Other C libraries have their own ways.
            guard let symbol = dlsym(nil, "malloc_trim") else { return }
            let trim = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
            _ = trim(0)
        #endif
    }

    /// Checks until cancelled.
    static func run(connectionCount: @Sendable () -> Int) async {
        var keeper = MemoryKeeper()
        while (try? await Task.sleep(for: lookInterval)) != nil {
            if keeper.look(at: connectionCount()) { giveBack() }
        }
    }
}
