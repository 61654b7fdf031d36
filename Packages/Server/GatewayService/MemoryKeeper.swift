internal import Foundation

/// Gives memory back to the system after a peak. What an allocator has freed stays with the process until it is told: with
/// ten thousand devices gone, nine tenths of a gateway's memory is free and still its own.
struct MemoryKeeper {
    /// How often the number of connections is looked at.
    static let lookInterval = Duration.seconds(3)
    /// Memory is also given back after this many looks, even if no device left: uploads and batches cause peaks too.
    static let looksBetweenReturns = 20
    /// Memory is given back sooner if at least this many connections have left, and a quarter of the highest number; or have
    /// come, as many: what opening them took is free again.
    static let minimumChangeCount = 500

    private var mostCount = 0
    private var lastCount = 0
    /// When memory was last given back.
    private var countBefore = 0
    private var looks = 0
    /// What devices that left kept may be freed a moment later.
    private var isOwedAgain = false

    /// Whether to give memory back now.
    /// - Parameter count: connected devices.
    mutating func look(at count: Int) -> Bool {
        let (isLeaving, isArriving) = (count < lastCount, count > lastCount)
        lastCount = count
        mostCount = max(mostCount, count)
        looks += 1
        let (drop, rise) = (mostCount - count, count - countBefore)
        // Not while more are leaving or arriving: their memory would come later.
        let isAfterPeak = !isLeaving && drop >= Self.minimumChangeCount && drop >= mostCount / 4
        let isAfterRush = !isArriving && rise >= Self.minimumChangeCount && rise >= count / 4
        guard isAfterPeak || isAfterRush || isOwedAgain || looks >= Self.looksBetweenReturns else { return false }
        isOwedAgain = isAfterPeak
        mostCount = count
        countBefore = count
        looks = 0
        return true
    }

    /// Tells the allocator to give back whole pages that nobody uses. Takes milliseconds; other threads that allocate wait
    /// for a part of them.
    static func giveBack() {
        #if canImport(Darwin)
            malloc_zone_pressure_relief(nil, 0)
        #else
            // Of glibc, and in no module map; another C library has its own ways.
            guard let symbol = dlsym(nil, "malloc_trim") else { return }
            let trim = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
            _ = trim(0)
        #endif
    }

    /// Looks until cancelled.
    static func run(connectionCount: @Sendable () -> Int) async {
        var keeper = MemoryKeeper()
        while (try? await Task.sleep(for: lookInterval)) != nil {
            if keeper.look(at: connectionCount()) { giveBack() }
        }
    }
}
