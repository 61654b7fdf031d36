import Foundation
import Testing
import TomboloModel

@Suite("Values")
struct ValueTests {
    @Test("Text is compared by bytes: composed and decomposed letters differ")
    func textEquality() {
        let composed = "caf\u{e9}"
        let decomposed = "cafe\u{301}"
        #expect(composed == decomposed)
        #expect(Value.string(composed) != .string(decomposed))
        #expect(Value.string(decomposed).order(.string(composed)) == -1)
        #expect(Set([Value.string(composed), .string(decomposed)]).count == 2)
        #expect(Value.string("Z").order(.string("a")) == -1)
        #expect(Value.string("a").order(.string("ab")) == -1)
        #expect(Value.string("\u{ffff}").order(.string("\u{10000}")) == -1)
    }

    @Test("Positive and negative zero are one value")
    func negativeZero() {
        #expect(Value.double(-0.0) == .double(0.0))
        #expect(Value.double(-0.0).order(.double(0.0)) == 0)
        #expect(Set([Value.double(-0.0), .double(0.0)]).count == 1)
    }

    @Test("Values of different types are never equal and have no order")
    func types() {
        #expect(Value.int(1) != .double(1))
        #expect(Value.int(1) != .date(1))
        #expect(Value.int(1).order(.double(2)) == nil)
        #expect(Value.null == .null)
        #expect(Value.null.order(.int(1)) == nil)
    }

    @Test(
        "Values have the order the databases give them",
        arguments: [
            [.bool(false), .bool(true)],
            [.int(.min), .int(-1), .int(0), .int(.max)],
            [.double(-.infinity), .double(-1.5), .double(0), .double(.leastNonzeroMagnitude), .double(.infinity)],
            [.string(""), .string("A"), .string("a"), .string("aa"), .string("é")],
            [.data(Data()), .data(Data([0])), .data(Data([0, 0])), .data(Data([1])), .data(Data([255]))],
            [.date(Value.dateRange.lowerBound), .date(0), .date(1)],
            [
                .objectId(ObjectId()), .objectId(ObjectId(high: 0, low: 1)), .objectId(ObjectId(high: 1, low: 0)),
                .objectId(ObjectId(high: .max, low: 0)),
            ],
            [
                .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9))),
                .uuid(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
                .uuid(UUID(uuid: (200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
            ],
        ] as [[Value]])
    func order(ascending: [Value]) {
        for (i, left) in ascending.enumerated() {
            for (j, right) in ascending.enumerated() {
                #expect(left.order(right) == (i == j ? 0 : i < j ? -1 : 1), "\(left), \(right)")
                #expect(Value.sortsBefore(left, right) == (i < j))
                #expect((left == right) == (i == j))
            }
            #expect(Value.sortsBefore(.null, left))
            #expect(!Value.sortsBefore(left, .null))
        }
        #expect(!Value.sortsBefore(.null, .null))
    }

    @Test("A sliced Data equals a whole one with the same bytes")
    func slices() {
        let slice = Data([9, 1, 2, 9])[1..<3]
        #expect(Value.data(slice) == .data(Data([1, 2])))
        #expect(Value.data(slice).hashValue == Value.data(Data([1, 2])).hashValue)
    }

    @Test("Messages shorten long text")
    func descriptions() {
        #expect(Value.string(String(repeating: "x", count: 100)).description.count == 43)
        #expect(Value.data(Data(count: 5)).description == "5 bytes")
        #expect(Value.null.description == "nil")
        #expect(Value.date(0).description == "1970-01-01T00:00:00Z")
    }

    @Test("Text is cut by bytes, but between code points, even if it has few characters")
    func shortening() {
        let accents = "e" + String(repeating: "\u{301}", count: 100_000)
        #expect(accents.count == 1)
        #expect(Value.string(accents).description.utf8.count <= 40 + 5)
        #expect(accents.shortened(toByteCount: 4) == "e\u{301}…")
        #expect("abc".shortened(toByteCount: 3) == "abc")
        #expect("abcd".shortened(toByteCount: 3) == "abc…")
        #expect("👩‍🚀".shortened(toByteCount: 3) == "…")
        #expect("👩‍🚀".prefix(byteCount: 5) == "👩")
        #expect("".shortened(toByteCount: 0) == "")
        let text = "aé€👩‍🚀x"
        for limit in 0...text.utf8.count {
            let part = text.prefix(byteCount: limit)
            #expect(part.utf8.count <= limit)
            #expect(part.utf8.count > limit - 4)
            #expect(text.utf8.starts(with: part.utf8))
            #expect(String(validating: part.utf8, as: UTF8.self) != nil)
        }
    }

    @Test("The stable hash is FNV-1a")
    func stableHash() {
        #expect("".stableHash == 0xcbf2_9ce4_8422_2325)
        #expect("a".stableHash == 0xaf63_dc4c_8601_ec8c)
        #expect("foobar".stableHash == 0x8594_4171_f739_67e8)
    }
}
