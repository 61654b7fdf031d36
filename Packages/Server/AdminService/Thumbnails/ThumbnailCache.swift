import Foundation

/// Thumbnails, and which images have none, or had none a moment ago, up to a number of bytes. It's in two generations: once the younger one has half of the
/// room, it becomes the older one, and what nobody has asked for since goes.
struct ThumbnailCache {
    typealias Key = [UInt8]

    enum Content: Hashable, Sendable {
        case thumbnail(Data)
        /// The image has none, and never will.
        case refused
        /// None could be made, for a reason that may have passed by then.
        case failed(until: ContinuousClock.Instant)

        var thumbnail: Data? { if case .thumbnail(let data) = self { data } else { nil } }

        fileprivate func holds(at now: ContinuousClock.Instant) -> Bool {
            if case .failed(let end) = self { now < end } else { true }
        }
    }

    private struct Generation {
        var entries: [Key: Content] = [:]
        var byteCount = 0
    }

    /// What an entry takes besides its image and its key, roughly.
    static let entryByteCount = 128

    let byteLimit: Int
    private var young = Generation()
    private var old = Generation()

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    var byteCount: Int { young.byteCount + old.byteCount }

    /// - Returns: nil for what isn't known, or is to be tried again.
    mutating func content(_ key: Key, at now: ContinuousClock.Instant) -> Content? {
        guard let found = young.entries[key] ?? old.entries[key], found.holds(at: now) else { return nil }
        if young.entries[key] == nil { keep(found, key) }
        return found
    }

    mutating func keep(_ content: Content, _ key: Key) {
        let size = Self.size(content, key)
        guard size <= byteLimit / 2 else { return }
        if let replaced = young.entries.removeValue(forKey: key) { young.byteCount -= Self.size(replaced, key) }
        if let moved = old.entries.removeValue(forKey: key) { old.byteCount -= Self.size(moved, key) }
        if young.byteCount + size > byteLimit / 2 {
            old = young
            young = Generation()
        }
        young.entries[key] = content
        young.byteCount += size
    }

    private static func size(_ content: Content, _ key: Key) -> Int {
        entryByteCount + key.count + (content.thumbnail?.count ?? 0)
    }
}
