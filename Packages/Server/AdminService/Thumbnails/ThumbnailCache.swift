import Foundation
import TomboloModel

/// A cache of thumbnails and of failures, permanent or recent, limited to a number of bytes.
///
/// When room is needed and some readers hold more than a share, the one that holds most gives up entries first.
/// Otherwise the least recently used entries go. So a reader who opens many images takes nothing from readers below
/// their share, and a single reader may use all the room.
///
/// Readers of the same image share its bytes, but each is charged for all of them. If a shared image were cheaper,
/// the room left would tell one reader that another has seen the image.
struct ThumbnailCache {
    /// A digest of the image and of the thumbnail's size.
    typealias Key = [UInt8]

    enum Content: Hashable, Sendable {
        case thumbnail(Data)
        /// The image has no thumbnail, and never will.
        case refused
        /// None could be made. By this time, the reason may have passed.
        case failed(until: ContinuousClock.Instant)

        var thumbnail: Data? { if case .thumbnail(let data) = self { data } else { nil } }

        fileprivate func holds(at now: ContinuousClock.Instant) -> Bool {
            if case .failed(let end) = self { now < end } else { true }
        }
    }

    /// The approximate size of an entry, in bytes, besides its image and its key.
    static let entryByteCount = 128
    /// The number of shares that the room is divided into.
    static let shareCount = 4

    let byteLimit: Int
    private(set) var byteCount = 0
    /// No shelf is empty.
    private var shelves: [ObjectId: ThumbnailShelf] = [:]
    private var lastStamp: UInt64 = 0

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// Nothing larger is kept.
    var shareByteCount: Int { byteLimit / Self.shareCount }

    func byteCount(of reader: ObjectId) -> Int { shelves[reader]?.byteCount ?? 0 }

    /// - Returns: nil if nothing is known for this reader, or if another attempt is due.
    mutating func content(_ key: Key, for reader: ObjectId, at now: ContinuousClock.Instant) -> Content? {
        guard let found = shelves[reader]?.content(key), found.holds(at: now) else { return nil }
        lastStamp += 1
        shelves[reader]?.use(key, lastStamp)
        return found
    }

    /// Stores the content, replacing an earlier one. A failure doesn't replace a thumbnail.
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

    /// Another reader's thumbnail of the same image.
    private func shared(_ key: Key) -> Content? {
        shelves.values.lazy.compactMap { $0.content(key) }.first { $0.thumbnail != nil }
    }

    /// The reader who has to make room for another reader's new bytes.
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
