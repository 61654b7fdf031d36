import Foundation
import Testing
import TomboloModel

@testable import AdminService

/// Which thumbnails are cached, and which are evicted for which reader.
@Suite struct ThumbnailCacheTests {
    /// SplitMix64
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    private static let now = ContinuousClock.now
    /// The size of an entry with a thumbnail of 100 bytes.
    private static let size = ThumbnailCache.entryByteCount + 1 + 100

    private static func thumbnail(_ byte: UInt8 = 0) -> ThumbnailCache.Content {
        .thumbnail(Data(repeating: byte, count: 100))
    }

    /// Doesn't count as a use, because it asks a copy.
    private static func holds(_ cache: ThumbnailCache, _ key: UInt8, _ reader: ObjectId) -> Bool {
        var copy = cache
        return copy.content([key], for: reader, at: now) != nil
    }

    @Test(
        "the cache stays within its byte limit, keeps recently used entries longest, and may be filled by one reader")
    func bound() {
        let reader = ObjectId.generate()
        var cache = ThumbnailCache(byteLimit: 4 * Self.size)
        for key in UInt8(0)..<20 {
            cache.keep(Self.thumbnail(), [key], for: reader)
            #expect(cache.content([0], for: reader, at: Self.now) == Self.thumbnail())
            #expect(cache.byteCount == min(4, Int(key) + 1) * Self.size)
        }
        #expect((0..<20).filter { Self.holds(cache, $0, reader) } == [0, 17, 18, 19])
        cache.keep(.refused, [30], for: reader)
        #expect(cache.content([30], for: reader, at: Self.now) == .refused)
        cache.keep(.thumbnail(Data(count: 101)), [31], for: reader)
        #expect(!Self.holds(cache, 31, reader), "larger than a share")
    }

    @Test("a reader who opens many images takes no room from one who uses no more than a share")
    func share() {
        let (one, other) = (ObjectId.generate(), ObjectId.generate())
        var cache = ThumbnailCache(byteLimit: 8 * Self.size)
        for key in UInt8(0)..<2 { cache.keep(Self.thumbnail(), [key], for: one) }
        for key in UInt8(0)..<100 { cache.keep(Self.thumbnail(), [key], for: other) }
        #expect(cache.byteCount(of: one) == 2 * Self.size && cache.byteCount(of: other) == 6 * Self.size)
        for key in UInt8(2)..<100 { cache.keep(Self.thumbnail(), [key], for: one) }
        #expect(cache.byteCount(of: one) == 4 * Self.size && cache.byteCount(of: other) == 4 * Self.size)
        #expect((0..<100).filter { Self.holds(cache, $0, one) } == [96, 97, 98, 99])
    }

    @Test("while no reader exceeds a share, the least recently used entry is evicted")
    func oldest() {
        let readers = (0..<5).map { _ in ObjectId.generate() }
        var cache = ThumbnailCache(byteLimit: 4 * Self.size)
        for reader in readers.prefix(4) { cache.keep(Self.thumbnail(), [1], for: reader) }
        #expect(cache.content([1], for: readers[0], at: Self.now) != nil)
        cache.keep(Self.thumbnail(), [1], for: readers[4])
        #expect(readers.map { Self.holds(cache, 1, $0) } == [true, false, true, true, true])
    }

    @Test("a failure is remembered until it expires, and replaces no thumbnail")
    func failure() {
        let reader = ObjectId.generate()
        let end = Self.now + .seconds(1)
        var cache = ThumbnailCache(byteLimit: 1_000)
        cache.keep(.failed(until: end), [1], for: reader)
        #expect(cache.content([1], for: reader, at: end - .nanoseconds(1)) == .failed(until: end))
        #expect(cache.content([1], for: reader, at: end) == nil)
        cache.keep(Self.thumbnail(), [1], for: reader)
        cache.keep(.failed(until: end), [1], for: reader)
        #expect(cache.content([1], for: reader, at: Self.now) == Self.thumbnail())
        #expect(cache.byteCount == Self.size)
    }

    @Test("readers of the same image share its bytes, but each gets it only after asking for it themselves")
    func once() {
        let (one, other) = (ObjectId.generate(), ObjectId.generate())
        func place(_ content: ThumbnailCache.Content?) -> UnsafeRawPointer? {
            content?.thumbnail?.withUnsafeBytes { $0.baseAddress }
        }
        var cache = ThumbnailCache(byteLimit: 8 * Self.size)
        cache.keep(Self.thumbnail(7), [1], for: one)
        #expect(cache.content([1], for: other, at: Self.now) == nil)
        cache.keep(Self.thumbnail(7), [1], for: other)
        let held = [one, other].map { cache.content([1], for: $0, at: Self.now) }
        #expect(held == [Self.thumbnail(7), Self.thumbnail(7)])
        #expect(place(held[0]) == place(held[1]))
        #expect(cache.byteCount == 2 * Self.size, "a reader can't notice what others have seen")
    }

    @Test(
        "whatever is requested, the limit holds, the oldest entries go first, and nobody loses more than the shares allow"
    )
    func model() {
        typealias Entry = (key: UInt8, byteCount: Int)
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = Generator(state: seed)
        let readers = (0..<7).map { _ in ObjectId.generate() }
        /// A few are larger than a share.
        func content(_ key: UInt8) -> ThumbnailCache.Content {
            key.isMultiple(of: 7) ? .refused : .thumbnail(Data(repeating: key, count: Int(key) * 37 % 900))
        }
        func size(_ entries: [Entry]) -> Int { entries.reduce(0) { $0 + $1.byteCount } }
        var cache = ThumbnailCache(byteLimit: 4_000)
        /// Least recently used first.
        var model = [[Entry]](repeating: [], count: readers.count)
        for step in 0..<3_000 {
            let place: Comment = "seed \(seed), step \(step)"
            // The first readers ask more often than the others.
            let index = Int.random(in: 0...Int.random(in: 0..<readers.count, using: &generator), using: &generator)
            let reader = readers[index]
            let key = UInt8.random(in: 0..<50, using: &generator)
            if let known = model[index].firstIndex(where: { $0.key == key }), Bool.random(using: &generator) {
                #expect(cache.content([key], for: reader, at: Self.now) == content(key), place)
                model[index].append(model[index].remove(at: known))
                continue
            }
            cache.keep(content(key), [key], for: reader)
            let byteCount = ThumbnailCache.entryByteCount + 1 + (content(key).thumbnail?.count ?? 0)
            if byteCount <= cache.shareByteCount {
                model[index].removeAll { $0.key == key }
                let before = model
                model[index].append((key, byteCount))
                for holder in readers.indices {
                    let entries = model[holder]
                    model[holder] = entries.filter { Self.holds(cache, $0.key, readers[holder]) }
                    #expect(model[holder].map(\.key) == entries.suffix(model[holder].count).map(\.key), place)
                }
                #expect(model[index].last?.key == key, place)
                for holder in readers.indices where holder != index && model[holder].count < before[holder].count {
                    let isAbove = size(before[holder]) > cache.shareByteCount
                    #expect(isAbove || size(model[index]) <= cache.shareByteCount, place)
                }
                let gone = zip(before, model).flatMap { before, after in
                    before.filter { entry in !after.contains { $0.key == entry.key } }
                }
                let largest = gone.map(\.byteCount).max() ?? 0
                #expect(gone.isEmpty || cache.byteCount + largest > cache.byteLimit, place)
            }
            #expect(cache.byteCount <= cache.byteLimit, place)
            #expect(cache.byteCount == model.reduce(0) { $0 + size($1) }, place)
            for holder in readers.indices {
                #expect(cache.byteCount(of: readers[holder]) == size(model[holder]), place)
            }
        }
    }
}
