/// One reader's entries, least recently used first.
struct ThumbnailShelf {
    private struct Entry {
        let content: ThumbnailCache.Content
        let byteCount: Int
        /// The stamp of the last use.
        var stamp: UInt64
    }

    private var entries: [ThumbnailCache.Key: Entry] = [:]
    /// All uses since the last clean-up, oldest first. Only the last use of each entry counts: the one whose stamp is
    /// the entry's.
    private var uses: [(key: ThumbnailCache.Key, stamp: UInt64)] = []
    /// The index of the oldest use that counts.
    private var start = 0
    private(set) var byteCount = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The last use of the least recently used entry.
    var oldestStamp: UInt64? { start < uses.count ? uses[start].stamp : nil }

    func content(_ key: ThumbnailCache.Key) -> ThumbnailCache.Content? { entries[key]?.content }

    /// - Parameter stamp: higher than all earlier ones.
    mutating func use(_ key: ThumbnailCache.Key, _ stamp: UInt64) {
        guard entries[key] != nil else { return }
        entries[key]?.stamp = stamp
        uses.append((key, stamp))
        tidy()
    }

    /// - Parameter stamp: higher than all earlier ones.
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

    /// Removes the least recently used entry.
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
