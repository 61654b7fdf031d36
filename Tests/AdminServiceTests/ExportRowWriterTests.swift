import Foundation
import Testing

@testable import TomboloJSONAPI

@Suite("COPY rows become JSON objects") struct ExportRowWriterTests {
    private static func objects(
        _ rows: String, _ cells: [(String, ExportRowWriter.Cell)], isArray: Bool = false
    ) -> String {
        String(decoding: ExportRowWriter(cells, isArray: isArray).objects(Array(rows.utf8)), as: UTF8.self)
    }

    @Test("with the values of each kind of cell, and null")
    func kinds() {
        let cells: [(String, ExportRowWriter.Cell)] = [
            ("id", .quoted), ("n", .number), ("is", .truth), ("t", .text), ("list", .json),
        ]
        #expect(
            Self.objects("0a\t-1.5e+20\tt\tBay\t[1, 2]\n0b\t\\N\tf\t\\N\t\\N\n", cells)
                == #"{"id":"0a","n":-1.5e+20,"is":true,"t":"Bay","list":[1, 2]}"# + "\n"
                + #"{"id":"0b","n":null,"is":false,"t":null,"list":null}"# + "\n")
        #expect(
            Self.objects("0a\tNaN\tt\t\t{}\n0b\t-Infinity\tf\tN\t[]\n", cells, isArray: true)
                == #",{"id":"0a","n":"NaN","is":true,"t":"","list":{}}"# + "\n"
                + #",{"id":"0b","n":"-Infinity","is":false,"t":"N","list":[]}"# + "\n")
        #expect(Self.objects("", cells).isEmpty)
    }

    /// Text as COPY writes it (PostgreSQL's manual, COPY, "Text Format").
    private static func copied(_ text: String) -> String {
        let escapes: [Character: String] = [
            "\\": #"\\"#, "\u{8}": #"\b"#, "\u{C}": #"\f"#, "\n": #"\n"#, "\r": #"\r"#, "\t": #"\t"#, "\u{B}": #"\v"#,
        ]
        return String(text.unicodeScalars.map { escapes[Character($0)] ?? String($0) }.joined())
    }

    @Test("with every character unchanged, in text and in JSON")
    func characters() throws {
        var texts = (1...0x2FF).compactMap { UnicodeScalar($0).map { "a\($0)b" } }
        texts += [#"\"#, #"\\"#, #"\N"#, #"\.""#, #"""#, "\u{B}", "\n", "ü\u{B}\"\\v\n\t\u{1}", "😀\\", ""]
        let rows = texts.map { text -> String in
            let json = String(decoding: (try? JSONEncoder().encode([text])) ?? Data(), as: UTF8.self)
            return "\(Self.copied(text))\t\(Self.copied(json))\n"
        }
        let lines = Self.objects(rows.joined(), [("text", .text), ("json", .json)]).split(separator: "\n")
        try #require(lines.count == texts.count)
        struct Object: Decodable, Equatable {
            var text: String?
            var json: [String]
        }
        for (line, text) in zip(lines, texts) {
            let object = try JSONDecoder().decode(Object.self, from: Data(line.utf8))
            // As a whole cell, `\N` would mean null; COPY escapes the text `\N`.
            #expect(object == Object(text: text, json: [text]), "\(text.debugDescription): \(line)")
        }
    }

    @Test("without reading past the end of any input")
    func hostile() {
        let cells: [(String, ExportRowWriter.Cell)] = [("a", .text), ("b", .json), ("c", .number)]
        let pieces = ["\\", "\t", "\n", "N", "v", "\"", "x", "\\\\", "\u{1}", "ü"]
        var rows = [""]
        for _ in 0..<4 {
            rows = rows.flatMap { row in pieces.map { row + $0 } }
            for row in rows { _ = Self.objects(row, cells) }
        }
    }
}
