/// How large batches get, how many there are at a time, and how many requests may wait for one.
package struct BatchBounds: Sendable {
    /// Requests that are answered together.
    package let size: Int
    /// Batches at a time.
    package let concurrency: Int
    /// Requests that wait. Beyond that the lane that has most gives way.
    package let waiting: Int

    package init(size: Int, concurrency: Int = 1, waiting: Int = 10_000) {
        self.size = max(1, size)
        self.concurrency = max(1, concurrency)
        self.waiting = max(1, waiting)
    }
}
