import Testing
import TomboloHTTP
@testable import TomboloJSONAPI

@Suite("A file's encoding is detected, and it's decoded the same however it's split")
struct ImportTextDecoderTests {
    /// Includes the byte order mark.
    static func utf16(_ units: [UInt16], isBigEndian: Bool) -> [UInt8] {
        ([0xFEFF] + units).flatMap { unit -> [UInt8] in
            let bytes = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            return isBigEndian ? bytes : bytes.reversed()
        }
    }

    private struct Decoded {
        var text: [UInt8] = []
        var encoding = ImportEncoding.utf8
        var failure: ImportFileError?
    }

    private static func decoded(_ bytes: [UInt8], piece: Int) -> Decoded {
        var decoder = ImportTextDecoder()
        var result = Decoded()
        do throws(ImportFileError) {
            for start in stride(from: 0, to: bytes.count, by: piece) {
                try decoder.feed(bytes[start..<min(start + piece, bytes.count)], into: &result.text)
            }
            try decoder.finish(into: &result.text)
        } catch {
            result.failure = error
        }
        result.encoding = decoder.encoding
        return result
    }

    @Test(
        "the first bytes, or the first non-ASCII character, determine the encoding",
        arguments: [
            ([], "", .utf8), ([0x61], "a", .utf8), ([0xC3, 0xBC], "ü", .utf8),
            ([0x61, 0xF0, 0x9F, 0x9A, 0xA2], "a🚢", .utf8), ([0xEF, 0xBB, 0xBF, 0xC3, 0xBC], "\u{FEFF}ü", .utf8),
            ([0xFC], "ü", .windows1252), ([0x63, 0x61, 0x66, 0xE9], "café", .windows1252),
            ([0xE9, 0x0A], "é\n", .windows1252), ([0x80, 0x31], "€1", .windows1252),
            ([0xEF, 0xBB], "ï»", .windows1252),
            ([0xFF], "ÿ", .windows1252), ([0xC3, 0x28], "Ã(", .windows1252),
            // An overlong form, a surrogate and a value beyond Unicode aren't valid UTF-8.
            ([0xC0, 0x80], "À€", .windows1252), ([0xED, 0xA0, 0x80], "í\u{A0}€", .windows1252),
            ([0xF4, 0x90, 0x80, 0x80], "ô\u{90}€€", .windows1252), ([0x50, 0x4B], "PK", .utf8),
            ([0x50, 0x4B, 0x03, 0x05], "PK\u{3}\u{5}", .utf8), ([0xD0, 0xCF], "ÐÏ", .windows1252),
            ([0xFF, 0xFE], "", .utf16), ([0xFE, 0xFF, 0x00, 0x61], "a", .utf16),
        ] as [([UInt8], String, ImportEncoding)])
    func encodings(_ bytes: [UInt8], _ text: String, _ encoding: ImportEncoding) {
        for piece in [1, 2, 3, 1_000] {
            let found = Self.decoded(bytes, piece: piece)
            #expect(found.text == Array(text.utf8) && found.encoding == encoding, "\(piece): \(found)")
            #expect(found.failure == nil)
        }
    }

    @Test("every byte of Windows-1252 decodes as in WHATWG's index")
    func windows1252() {
        let high: [UInt32] = [
            0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0x8D,
            0x17D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A,
            0x153, 0x9D, 0x17E, 0x178,
        ]
        // UTF-8 never begins with this first byte.
        let bytes: [UInt8] = [0xFF] + Array(0...0xFF)
        var expected: [UInt32] = [0xFF]
        expected += 0..<0x80
        expected += high
        expected += 0xA0...0xFF
        for piece in [1, 7, 1_000] {
            let found = Self.decoded(bytes, piece: piece)
            #expect(String(decoding: found.text, as: UTF8.self).unicodeScalars.map(\.value) == expected, "\(piece)")
        }
    }

    @Test("UTF-16 is decoded in either byte order", arguments: [true, false])
    func utf16(_ isBigEndian: Bool) {
        let text = "Title\tState\r\nFrühstück 日本 🚢\tpending\r\n"
        for piece in [1, 2, 3, 5, 1_000] {
            let found = Self.decoded(Self.utf16(Array(text.utf16), isBigEndian: isBigEndian), piece: piece)
            #expect(String(decoding: found.text, as: UTF8.self) == text && found.encoding == .utf16, "\(piece)")
            #expect(found.failure == nil)
        }
    }

    @Test(
        "half a UTF-16 character is refused with its line, after all the text before it",
        arguments: [
            // `a CR LF b` and half a surrogate pair, followed by something else, nothing, the wrong half, or a single byte.
            ([0x61, 0x0D, 0x0A, 0x62, 0xD83D, 0x63], 0, 2, "a\r\nb"), ([0x61, 0x0A, 0x62, 0xD83D], 0, 2, "a\nb"),
            ([0x61, 0x0D, 0x62, 0xDEA2, 0xD83D], 0, 2, "a\rb"), ([0x61, 0x0A, 0x0A, 0xD83D, 0xDEA2], 1, 3, "a\n\n"),
            ([0xD83D, 0xD83D, 0xDEA2], 0, 1, ""), ([0x61, 0x62], 1, 1, "a"),
        ] as [([UInt16], Int, Int64, String)])
    func brokenUTF16(_ units: [UInt16], _ missing: Int, _ line: Int64, _ text: String) {
        for isBigEndian in [true, false] {
            let bytes = Array(Self.utf16(units, isBigEndian: isBigEndian).dropLast(missing))
            for piece in [1, 2, 1_000] {
                let found = Self.decoded(bytes, piece: piece)
                #expect(found.failure?.line == line && found.failure?.hint.isEmpty == false, "\(found)")
                #expect(found.text == Array(text.utf8), "\(found)")
            }
        }
    }

    @Test(
        "workbooks are named, with what to do",
        arguments: [[0x50, 0x4B, 3, 4, 20], [0xD0, 0xCF, 0x11, 0xE0, 0xA1]] as [[UInt8]])
    func workbooks(_ bytes: [UInt8]) throws {
        for piece in [1, 3, 1_000] {
            let failure = try #require(Self.decoded(bytes, piece: piece).failure)
            #expect(failure.failure.message.hasPrefix("This is an Excel workbook"), "\(failure)")
            #expect(failure.hint == "Save it as 'CSV UTF-8' in Excel, and import that.")
        }
    }

    @Test("random bytes and truncated files never crash, and give the same result however they're split")
    func fuzz() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix(state: seed)
        let beginnings: [[UInt8]] = [
            [], [0xFF, 0xFE], [0xFE, 0xFF], [0xEF, 0xBB, 0xBF], [0xEF, 0xBB], [0x50, 0x4B, 3], [0xD0, 0xCF, 0x11],
        ]
        let alphabet: [UInt8] = [0, 0x0A, 0x0D, 0x41, 0x80, 0xBC, 0xC3, 0xD8, 0xDC, 0xE2, 0xED, 0xF0, 0xF4, 0xFF]
        for _ in 0..<2_000 {
            let rest = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            let bytes = (beginnings.randomElement(using: &random) ?? []) + rest
            let (whole, dripped) = (Self.decoded(bytes, piece: 1_000), Self.decoded(bytes, piece: 1))
            #expect(whole.text == dripped.text && whole.encoding == dripped.encoding, "\(seed) \(bytes)")
            #expect(whole.failure == dripped.failure, "\(seed) \(bytes)")
            #expect(whole.text.count <= 3 * bytes.count, "\(seed) \(bytes)")
            if String(validating: bytes, as: UTF8.self) != nil, whole.failure == nil {
                #expect(whole.text == bytes, "\(seed) \(bytes)")
            }
        }
    }

    /// Reproduces a failure from its seed.
    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    // MARK: Rows

    private static func rows(
        _ bytes: [UInt8], piece: Int, _ format: ImportFile.Format = .csv, limit: Int = ImportLimits.byteCount
    ) throws -> (texts: [String], file: ImportFile) {
        var file = ImportFile(format)
        file.textLimit = limit
        var rows: [ImportFile.Row] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            rows += try file.rows(in: bytes[start..<min(start + piece, bytes.count)])
        }
        rows += try file.finish()
        return (rows.map(\.text), file)
    }

    /// `Name;Ort` and `Jürgen;Köln`, as German Excel saves them as CSV.
    private static let german = "Name;Ort\r\nJürgen;Köln\r\n".unicodeScalars.map { UInt8($0.value) }

    @Test("rows are the same in every encoding, with every separator")
    func files() throws {
        let row = ImportSource.text(of: ["Jürgen", "Köln"])
        let tabs = "Name\tOrt\r\nJürgen\tKöln\r\n"
        for (bytes, encoding) in [
            (Array("Name,Ort\nJürgen,Köln".utf8), .utf8), (Self.german, .windows1252),
            (Self.utf16(Array(tabs.utf16), isBigEndian: false), .utf16),
            (Self.utf16(Array(tabs.utf16), isBigEndian: true), .utf16),
        ] as [([UInt8], ImportEncoding)] {
            for piece in [1, 3, 1_000] {
                let found = try Self.rows(bytes, piece: piece)
                #expect(found.texts == [row] && found.file.columns == ["Name", "Ort"], "\(found.texts)")
                #expect(found.file.encoding == encoding && found.file.numbersLines)
            }
        }
        let lines = Self.utf16(Array("{\"a\": \"ü\"}\n".utf16), isBigEndian: false)
        #expect(try Self.rows(lines, piece: 1, .json).texts == ["{\"a\": \"ü\"}"])
        #expect(try Self.rows(lines, piece: 1, .json).file.numbersLines)
        #expect(try !Self.rows(Array("[{}]".utf8), piece: 1, .json).file.numbersLines)
    }

    @Test("decoded text has the same limits as a file, and errors come in file order")
    func bounds() throws {
        // Each of these bytes decodes to three.
        let euros = Array("a\n".utf8) + [UInt8](repeating: 0x80, count: ImportLimits.itemByteCount / 3 + 1)
        let long = #expect(throws: ImportFileError.self) { try Self.rows(euros, piece: 1_000) }
        #expect(long?.line == 2 && long?.column == 1, "\(String(describing: long))")
        let large = #expect(throws: ImportFileError.self) { try Self.rows(Self.german, piece: 1, limit: 20) }
        #expect(large?.isTooLarge == true)
        #expect(try Self.rows(Self.german, piece: 1, limit: 25).texts.count == 1)

        let mixed = Array("a,b\nü,1\nx,".utf8) + [0xFC] + Array("\n".utf8)
        // Line 2 has too few cells, and comes before the half character in line 3.
        let early = Self.utf16(Array("a,b\n1\n".utf16) + [0xDEA2], isBigEndian: false)
        for piece in [1, 1_000] {
            let notUTF8 = #expect(throws: ImportFileError.self) { try Self.rows(mixed, piece: piece) }
            #expect(notUTF8?.line == 3 && notUTF8?.column == 2, "\(String(describing: notUTF8))")
            let first = #expect(throws: ImportFileError.self) { try Self.rows(early, piece: piece) }
            #expect(first?.line == 2, "\(String(describing: first))")
        }
    }
}
