/// What is kept for one reader, in the order in which it was asked for last.
struct ThumbnailShelf {
    private struct Entry {
        let content: ThumbnailCache.Content
        let byteCount: Int
        /// Of its last use.
        var stamp: UInt64
    }

    private var entries: [ThumbnailCache.Key: Entry] = [:]
    /// All uses since the last tidying, the oldest first. Only the last use of each entry counts: its stamp is the entry's.
    private var uses: [(key: ThumbnailCache.Key, stamp: UInt64)] = []
    /// Where the oldest use is that counts.
    private var start = 0
    private(set) var byteCount = 0

    var isEmpty: Bool { entries.isEmpty }

    /// When the entry was asked for that nobody has asked for longest.
    var oldestStamp: UInt64? { start < uses.count ? uses[start].stamp : nil }

    func content(_ key: ThumbnailCache.Key) -> ThumbnailCache.Content? { entries[key]?.content }

    /// - Parameter stamp: higher than all before.
    mutating func use(_ key: ThumbnailCache.Key, _ stamp: UInt64) {
        guard entries[key] != nil else { return }
        entries[key]?.stamp = stamp
        uses.append((key, stamp))
        tidy()
    }

    /// - Parameter stamp: higher than all before.
    mutating func keep(
        _ content: ThumbnailCache.Content, _ key: ThumbnailCache.Key, byteCount size: Int, _ stamp: UInt64
    ) {
        remove(key)
        entries[key] = Entry(content: content, byteCount: size, stamp: stamp)
        byteCount += size
        uses.append((key, stamp))
        tidy()
    }

    mutating func remove(_ key: ThumbnailCache.Key) {
        guard let removed = entries.removeValue(forKey: key) else { return }
        byteCount -= removed.byteCount
        tidy()
    }

    /// Removes what nobody has asked for longest.
    mutating func removeOldest() {
        guard start < uses.count else { return }
        remove(uses[start].key)
    }

    private mutating func tidy() {
        while start < uses.count, !counts(uses[start]) { start += 1 }
        guard uses.count > 2 * entries.count + 16 else { return }
        uses = uses[start...].filter(counts)
        start = 0
    }

    private func counts(_ use: (key: ThumbnailCache.Key, stamp: UInt64)) -> Bool {
        entries[use.key]?.stamp == use.stamp
    }
}
