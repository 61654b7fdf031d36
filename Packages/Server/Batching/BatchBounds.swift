/// The size of batches, how many run at a time, and how many requests may wait for one.
package struct BatchBounds: Sendable {
    /// The most requests answered together.
    package let size: Int
    /// The most batches at a time.
    package let concurrency: Int
    /// The most waiting requests. Beyond that, the lane with the most requests gives way.
    package let waiting: Int

    package init(size: Int, concurrency: Int = 1, waiting: Int = 10_000) {
        self.size = max(1, size)
        self.concurrency = max(1, concurrency)
        self.waiting = max(1, waiting)
    }
}
