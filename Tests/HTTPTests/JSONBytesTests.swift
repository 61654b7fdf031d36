import Foundation
import Testing
import TomboloHTTP
import TomboloModel

@Suite struct JSONBytesTests {
    private static func encoded(_ json: JSON) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(json), as: UTF8.self)
    }

    private static func written(_ json: JSON) -> String {
        var bytes = JSONBytes()
        json.append(to: &bytes)
        return String(decoding: bytes.bytes, as: UTF8.self)
    }

    @Test("JSON is written as Foundation's encoder writes it")
    func asTheEncoder() throws {
        let controls = String(String.UnicodeScalarView((0..<0x80 as Range<UInt8>).map { Unicode.Scalar($0) }))
        let values: [JSON] = [
            nil, .bool(true), .bool(false), 0, -1, .int(.min), .int(.max), .double(1.5), .double(1), .double(-0.0),
            .double(1e300),
            .double(.leastNonzeroMagnitude), .double(0.1), .double(.infinity), .double(1e16),
            .double(123_456_789_012_345_680), "", "a/b",
            .string(controls), "Zürich 🏝 \u{2028}\u{FEFF}", [], [1, [2], "x"], .object([:]),
            ["b": 1, "a": nil, "B": .bool(true), "_id": "x", "ä": [], "a\"b": ["y": 1, "x": 2]],
        ]
        for value in values { #expect(Self.written(value) == (try Self.encoded(value))) }
    }

    @Test("A timestamp is written as Foundation does, with microseconds")
    func timestamps() throws {
        let (first, last) = (Int64(-12_219_292_800), Int64(253_402_300_799))
        var seconds: [Int64] = [0, -1, first, last, 951_782_400, 951_868_799, 4_107_542_399, 4_107_542_400]
        seconds += (0..<5_000).map { _ in Int64.random(in: first...last) }
        for second in seconds {
            let expected = Date(timeIntervalSince1970: TimeInterval(second)).formatted(.iso8601).dropLast()
            #expect(JSON.timestamp(second * 1_000_000 + 42) == expected + ".000042Z", "\(second)")
        }
        // ISO 8601 uses the Gregorian calendar, however far back.
        #expect(JSON.timestamp(-62_135_596_800_000_000) == "0001-01-01T00:00:00.000000Z")
    }
}
