import Foundation
import Testing
import TomboloHTTP
@testable import TomboloJSONAPI

@Suite("An uploaded file is parsed however it's split, and errors say where they are")
struct ImportFileTests {
    private static func rows(
        _ bytes: [UInt8], piece: Int, delimiter: UInt8? = nil
    ) throws -> [(cells: CSVDecoder.Row, line: Int64)] {
        var decoder = CSVDecoder(delimiter: delimiter)
        var rows: [(CSVDecoder.Row, Int64)] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try decoder.feed(bytes[start..<min(start + piece, bytes.count)]) { rows.append(($0, $1)) }
        }
        try decoder.finish { rows.append(($0, $1)) }
        return rows
    }

    @Test(
        "CSV parses the same whole and one byte at a time",
        arguments: [
            ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]), ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
            ("a\rb\r", [["a"], ["b"]]), ("\u{FEFF}a,b\n", [["a", "b"]]), ("\u{FEFF}\"a\",b\n", [["a", "b"]]),
            ("\"a,\"\"b\"\"\r\nc\",d\n", [["a,\"b\"\r\nc", "d"]]), (",\"\",\n", [[nil, "", nil]]),
            ("a\n\n\nb\n", [["a"], ["b"]]), ("\"\"", [[""]]), ("", []), ("\u{FEFF}", []), ("\r\n\r\n", []),
            ("ü,日本\n", [["ü", "日本"]]), (" a , b \n", [[" a ", " b "]]), ("a,b\r\n,\r\n", [["a", "b"], [nil, nil]]),
            ("a;b\n1,5;2\n", [["a", "b"], ["1,5", "2"]]), ("a\tb\n1;2\t3\n", [["a", "b"], ["1;2", "3"]]),
            ("\"a;b\",c\n1,2\n", [["a;b", "c"], ["1", "2"]]), ("\n\na;b\n1;2", [["a", "b"], ["1", "2"]]),
            ("a\n1;2\n", [["a"], ["1;2"]]), ("\"a\nb\";c\n", [["a\nb", "c"]]),
        ] as [(String, [[String?]])])
    func csv(_ text: String, _ expected: [[String?]]) throws {
        for piece in [1, 2, 3, 1_000] {
            #expect(try Self.rows(Array(text.utf8), piece: piece).map(\.cells) == expected, "\(piece)")
        }
    }

    @Test("each row has the number of the line where it begins, whatever its cells contain")
    func lines() throws {
        let text = "a,b\r\n\"1\r\n2\n3\",x\r\n\r\n4,\"\"\"\"\r\"5\r6\",7\n8,9"
        for piece in [1, 2, 1_000] {
            let rows = try Self.rows(Array(text.utf8), piece: piece)
            #expect(rows.map(\.line) == [1, 2, 6, 7, 9], "\(piece)")
        }
    }

    @Test(
        "broken CSV is refused with its line and column",
        arguments: [
            ("a,b\nc,\"d", 2, 2), ("a,b\"c\n", 1, 2), ("\"a\"b,c\n", 1, 1), ("a\nb\u{0}\n", 2, 1), ("\"a\u{0}", 1, 1),
            ("a,b\n\"1\n2\",\"3\n4\n", 3, 2), ("a\n\"1\n2\n3\"x\n", 4, 1),
        ] as [(String, Int64, Int)])
    func brokenCSV(_ text: String, _ line: Int64, _ column: Int) throws {
        for piece in [1, 1_000] {
            let error = #expect(throws: ImportFileError.self) { try Self.rows(Array(text.utf8), piece: piece) }
            #expect(error?.line == line && error?.column == column, "\(error.map { "\($0)" } ?? "")")
        }
    }

    @Test("bytes that aren't UTF-8, huge cells and too many cells are refused")
    func limits() throws {
        for bytes in [[0xFF, 0xFE, 0x41], [0x41, 0x2C, 0xC3, 0x28], [0xEF, 0xBB], [0x41, 0x00, 0x42, 0x00]] as [[UInt8]]
        {
            #expect(throws: ImportFileError.self) { try Self.rows(bytes, piece: 1) }
        }
        let giant = [UInt8](repeating: UInt8(ascii: "a"), count: ImportLimits.itemByteCount)
        #expect(try Self.rows(giant, piece: 65_536).count == 1)
        #expect(throws: ImportFileError.self) { try Self.rows(giant + [UInt8(ascii: "a")], piece: 65_536) }
        let open = Array("a,b\n1,\"".utf8) + giant + giant
        let error = #expect(throws: ImportFileError.self) { try Self.rows(open, piece: 65_536) }
        #expect(error?.line == 2 && error?.column == 2)
        let row = Array(repeating: giant, count: ImportLimits.rowByteCount / giant.count).joined(separator: [
            UInt8(ascii: ",")
        ])
        #expect(try Self.rows(Array("a,b\n".utf8) + row + [10] + row, piece: 65_536).count == 3)
        let long = #expect(throws: ImportFileError.self) {
            try Self.rows(Array("a,b\n".utf8) + row + Array(",x".utf8), piece: 65_536)
        }
        #expect(long?.line == 2 && long?.message.contains("row") == true)
        let commas = [UInt8](repeating: UInt8(ascii: ","), count: ImportLimits.columnCount)
        #expect(throws: ImportFileError.self) { try Self.rows(commas, piece: 64) }
    }

    @Test("random bytes and truncated files never crash, and give the same result however they're split")
    func fuzz() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = Generator(state: seed)
        let alphabet = Array("ab,\"\r\n;\t\u{0}ü{}[]:\\1\u{FEFF}".utf8)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            let whole = Result { try Self.rows(bytes, piece: 1_000) }
            let dripped = Result { try Self.rows(bytes, piece: 1) }
            switch (whole, dripped) {
            case (.success(let one), .success(let other)):
                #expect(
                    one.map(\.cells) == other.map(\.cells) && one.map(\.line) == other.map(\.line), "\(seed) \(bytes)")
            case (.failure(let one as ImportFileError), .failure(let other as ImportFileError)):
                #expect(one == other, "\(seed) \(bytes)")
            default: Issue.record("\(seed) \(bytes): \(whole) and \(dripped)")
            }
            let json = Result { try Self.objects(bytes, piece: 1_000).map(\.text) }
            let drippedJSON = Result { try Self.objects(bytes, piece: 1).map(\.text) }
            #expect((try? json.get()) == (try? drippedJSON.get()), "\(seed) \(bytes)")
        }
    }

    /// SplitMix64, so a failure can be reproduced from its seed.
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

    private static func objects(_ bytes: [UInt8], piece: Int) throws -> [JSONRowsDecoder.Row] {
        var decoder = JSONRowsDecoder()
        var rows: [JSONRowsDecoder.Row] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try decoder.feed(bytes[start..<min(start + piece, bytes.count)]) { rows.append($0) }
        }
        try decoder.finish()
        return rows
    }

    @Test(
        "JSON is parsed as an array and as lines",
        arguments: [
            (#"[{"a":1},{"b":"}]"}]"#, [1, 2]), ("{\"a\":1}\n{\"a\":2}\n", [1, 2]), ("[]", []), ("", []),
            (" [ { } ] ", [1]), (#"{"a":"\"}{"}"#, [1]), ("[\n{\"a\":[{}]}\n,\n{}\n]\n", [1, 2]),
            ("\u{FEFF}[{}]", [1]), ("\n{\"a\":\n1}\r\n\r\n{\"a\":2}", [2, 5]),
        ] as [(String, [Int64])])
    func json(_ text: String, _ numbers: [Int64]) throws {
        for piece in [1, 1_000] {
            #expect(try Self.objects(Array(text.utf8), piece: piece).map(\.number) == numbers)
        }
    }

    @Test(
        "broken JSON is refused",
        arguments: [
            "[{", "[{}", "[{},", "[{},]", "[{} {}]", "[1]", "null", "{}]", "[{}]x", "{\"a\":}", "{\"a\":1", "[,{}]",
            String(repeating: "[", count: 100_000), "{\"a\":" + String(repeating: "[", count: 100_000),
            "{\"a\":1,\"a\":2}", "{\"é\":1,\"e\u{301}\":2}", "{\"a\":{\"é\":1,\"\\u0065\u{301}\":2}}",
            "{\"a\":\"\u{1}\"}", "\"", "{'a':1}", "{} {}", "{\"a\":\"\u{0}\"}", "\u{FEFF}x",
            "{\"a\":\"" + String(repeating: "x", count: ImportLimits.itemByteCount) + "\"}",
        ])
    func brokenJSON(_ text: String) {
        for piece in [1, 1_000_000] where piece > 1 || text.utf8.count < 200_000 {
            #expect(throws: ImportFileError.self) { try Self.objects(Array(text.utf8), piece: piece) }
        }
    }

    @Test("a member that an object has twice, written in two ways, is named with its line, as a column of a table is")
    func repeatedMembers() {
        for text in ["{}\n{\"é\":1,\n\"e\u{301}\":2}", "a\n\"é\",\"e\u{301}\""] {
            let error = #expect(throws: ImportFileError.self) {
                if text.hasPrefix("{") {
                    _ = try Self.objects(Array(text.utf8), piece: 1_000)
                } else {
                    var file = ImportFile(.csv)
                    _ = try file.rows(in: Array(text.dropFirst(2).utf8))
                    _ = try file.finish()
                }
            }
            #expect(error?.line == (text.hasPrefix("{") ? 3 : 1) && error?.message.contains("'é'") == true)
        }
    }
}
