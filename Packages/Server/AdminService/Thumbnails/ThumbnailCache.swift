import Foundation
import TomboloModel

/// Thumbnails, and which images have none, or had none a moment ago, up to a number of bytes.
///
/// Whoever has more than a share of the room makes room first, the one with the most before others. If nobody has, what nobody
/// has asked for longest goes. So a reader who opens many images takes nothing from readers below their share, and a single
/// reader may have all the room.
///
/// Readers of the same image hold the same bytes, but each counts them in full. If they counted less, room would be left where
/// there would be none otherwise, and tell one reader that another has seen the image.
struct ThumbnailCache {
    /// A digest of the image and the size of the thumbnail.
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

    /// What an entry takes besides its image and its key, roughly.
    static let entryByteCount = 128
    /// How many shares the room has.
    static let shareCount = 4

    let byteLimit: Int
    private(set) var byteCount = 0
    /// None is empty.
    private var shelves: [ObjectId: ThumbnailShelf] = [:]
    private var lastStamp: UInt64 = 0

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// Nothing larger is kept.
    var shareByteCount: Int { byteLimit / Self.shareCount }

    func byteCount(of reader: ObjectId) -> Int { shelves[reader]?.byteCount ?? 0 }

    /// - Returns: nil for what isn't known to the reader, or is to be tried again.
    mutating func content(_ key: Key, for reader: ObjectId, at now: ContinuousClock.Instant) -> Content? {
        guard let found = shelves[reader]?.content(key), found.holds(at: now) else { return nil }
        lastStamp += 1
        shelves[reader]?.use(key, lastStamp)
        return found
    }

    /// Keeps it in place of what is known. A failure doesn't replace a thumbnail.
    mutating func keep(_ content: Content, _ key: Key, for reader: ObjectId) {
        let own = shelves[reader]?.content(key)
        if case .failed = content, own?.thumbnail != nil { return }
        let kept = content.thumbnail == nil ? content : shared(key) ?? content
        let size = Self.entryByteCount + key.count + (kept.thumbnail?.count ?? 0)
        guard size <= shareByteCount else { return }
        if own != nil { change(reader) { $0.remove(key) } }
        while byteCount + size > byteLimit, let giver = giver(of: size, to: reader) {
            change(giver) { $0.removeOldest() }
        }
        lastStamp += 1
        change(reader) { [lastStamp] in $0.keep(kept, key, byteCount: size, lastStamp) }
    }

    /// What some reader has of the same image.
    private func shared(_ key: Key) -> Content? {
        shelves.values.lazy.compactMap { $0.content(key) }.first { $0.thumbnail != nil }
    }

    /// Who makes room for a reader's further bytes.
    private func giver(of size: Int, to reader: ObjectId) -> ObjectId? {
        let counted = shelves.map { holder, shelf in
            (holder: holder, byteCount: shelf.byteCount + (holder == reader ? size : 0))
        }
        let most = counted.max {
            ($0.byteCount, $0.holder == reader ? 1 : 0) < ($1.byteCount, $1.holder == reader ? 1 : 0)
        }
        if let most, most.byteCount > shareByteCount { return most.holder }
        return shelves.min { ($0.value.oldestStamp ?? 0) < ($1.value.oldestStamp ?? 0) }?.key
    }

    private mutating func change(_ reader: ObjectId, _ body: (inout ThumbnailShelf) -> Void) {
        var shelf = shelves.removeValue(forKey: reader) ?? ThumbnailShelf()
        byteCount -= shelf.byteCount
        body(&shelf)
        byteCount += shelf.byteCount
        if !shelf.isEmpty { shelves[reader] = shelf }
    }
}
