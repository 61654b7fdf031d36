import Foundation

/// Thumbnails, and which images have none, up to a number of bytes. It's in two generations: once the younger one has half of the
/// room, it becomes the older one, and what nobody has asked for since goes.
struct ThumbnailCache {
    typealias Key = [UInt8]

    private struct Generation {
        var entries: [Key: Data?] = [:]
        var byteCount = 0
    }

    /// What an entry takes besides its image and its key, roughly.
    static let entryByteCount = 128

    let byteLimit: Int
    private var young = Generation()
    private var old = Generation()

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    var byteCount: Int { young.byteCount + old.byteCount }

    /// - Returns: nil for what isn't known; `.some(nil)` for an image that has none.
    mutating func thumbnail(_ key: Key) -> Data?? {
        if let found = young.entries[key] { return .some(found) }
        guard let found = old.entries[key] else { return nil }
        keep(found, key)
        return .some(found)
    }

    /// - Parameter thumbnail: nil if there's none.
    mutating func keep(_ thumbnail: Data?, _ key: Key) {
        let size = Self.size(thumbnail, key)
        guard young.entries[key] == nil, size <= byteLimit / 2 else { return }
        if let moved = old.entries.removeValue(forKey: key) { old.byteCount -= Self.size(moved, key) }
        if young.byteCount + size > byteLimit / 2 {
            old = young
            young = Generation()
        }
        young.entries.updateValue(thumbnail, forKey: key)
        young.byteCount += size
    }

    private static func size(_ thumbnail: Data?, _ key: Key) -> Int {
        entryByteCount + key.count + (thumbnail?.count ?? 0)
    }
}
