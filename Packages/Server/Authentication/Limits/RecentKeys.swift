/// The most recently noted keys, up to a limit. It's a value.
struct RecentKeys<Key: Hashable & Sendable>: Sendable {
    let maximumCount: Int
    private var notedAt: [Key: UInt64] = [:]
    private var last: UInt64 = 0

    init(maximumCount: Int) { self.maximumCount = maximumCount }

    var count: Int { notedAt.count }

    func contains(_ key: Key) -> Bool { notedAt[key] != nil }

    mutating func note(_ key: Key) {
        last += 1
        notedAt[key] = last
        guard notedAt.count > maximumCount else { return }
        // A tenth at once, so that not every new key sorts the whole map.
        for (key, _) in notedAt.sorted(by: { $0.value < $1.value }).prefix(max(1, maximumCount / 10)) {
            notedAt[key] = nil
        }
    }
}
