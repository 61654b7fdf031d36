/// How large batches may get, how many run at once, and how many requests may wait for one.
public struct BatchBounds: Sendable {
    let size: Int
    let concurrency: Int
    let waiting: Int

    public init(size: Int, concurrency: Int = 1, waiting: Int = 10_000) {
        self.size = max(1, size)
        self.concurrency = max(1, concurrency)
        self.waiting = max(1, waiting)
    }
}
