import Foundation
import Testing

@testable import SUSI

@Suite struct JSONParserTests {
    private func parse(_ text: String) throws -> JSON { try JSONParser.parse(Data(text.utf8)) }

    @Test("Members keep their order and numbers their digits")
    func members() throws {
        let text = #"{"b":[1,-2.50,1e999],"a":{"x":null,"x":true},"c":"é\"\\\n"}"#
        #expect(try parse(text).text == text)
        #expect(try parse(" \n{ \"a\" : [ ] , \"b\" : { } }\t").text == #"{"a":[],"b":{}}"#)
        #expect(try parse("\u{FEFF}[]") == .array([]))
    }

    @Test("The last of several members with the same name counts, and null counts as absent")
    func duplicateMembers() throws {
        let value = try parse(#"{"a": 1, "a": "two", "b": null}"#)
        #expect(value["a"] == .string("two"))
        #expect(value["b"] == nil)
        #expect(value["c"] == nil)
        #expect(try parse("[1]")["a"] == nil)
    }

    @Test(
        "Escapes are decoded, and U+0000 is replaced",
        arguments: [
            (#""\u00e9\ud83d\ude00""#, "é😀"), (#""\ud83d x""#, "\u{FFFD} x"), (#""\ud83d\u0041""#, "\u{FFFD}A"),
            (#""\ude00""#, "\u{FFFD}"), (#""a\u0000b""#, "a\u{FFFD}b"), ("\"a\0b\"", "a\u{FFFD}b"),
            (#""\b\f\n\r\t\/""#, "\u{8}\u{C}\n\r\t/"), ("\"line\nbreak\"", "line\nbreak"), (#""""#, ""),
        ])
    func escapes(_ text: String, _ expected: String) throws {
        #expect(try parse(text) == .string(expected))
    }

    @Test("Bytes that aren't UTF-8 become replacement characters")
    func badUTF8() throws {
        let bytes = Data([0x22, 0x61, 0xFF, 0xC0, 0x80, 0xED, 0xA0, 0x80, 0x62, 0x22])
        guard case .string(let text) = try JSONParser.parse(bytes) else {
            Issue.record("The value isn't a string.")
            return
        }
        #expect(text.hasPrefix("a\u{FFFD}") && text.hasSuffix("b"))
    }

    @Test(
        "Text that isn't JSON is an error with its position",
        arguments: [
            "", "   ", "{", "[1,", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "\"abc", "\"a\\",
            "\"\\x\"",
            "\"\\u12\"", "\"\\u+123\"", "tru", "nul", "NaN", "Infinity", "-", "1-2", "+1", "1e", "{}x", "[]]", "'a'",
            "\u{0}", "]", "[\"\\ud83d\\u\"]",
        ])
    func notJSON(_ text: String) throws {
        #expect(throws: JSONError.self) { try parse(text) }
    }

    @Test("Nesting beyond the limit is kept as text")
    func nesting() throws {
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            let deep = String(repeating: open, count: 10_000) + "1" + String(repeating: close, count: 10_000)
            let value = try parse(deep)
            #expect(value.text == deep)
            #expect(throws: JSONError.self) { try parse(String(deep.dropLast())) }
        }
        let strings = String(repeating: "[", count: 100) + #""]\"}""# + String(repeating: "]", count: 100)
        #expect(try parse(strings).text == strings)
        #expect(throws: JSONError.self) { try parse(String(repeating: "[", count: 99) + "}") }
        #expect(throws: JSONError.self) { try parse(String(repeating: "[", count: 1_000_000)) }
    }

    @Test(
        "Text of a million escapes is read in linear time",
        .timeLimit(.minutes(15)), arguments: [#"\n"#, #"\""#, #"\\"#, #"\u0041"#])
    func manyEscapes(_ escape: String) throws {
        let text = "\"" + String(repeating: escape, count: 1_000_000) + "\""
        guard case .string(let value) = try parse("[\(text), 1]").items.first else {
            Issue.record("The value isn't a string.")
            return
        }
        #expect(value.utf8.count == 1_000_000)
    }

    @Test("More values than a real answer contains are refused")
    func tooManyValues() throws {
        let many = "[" + String(repeating: "0,", count: JSONParser.maximumValueCount) + "0]"
        #expect(throws: JSONError.self) { try parse(many) }
    }

    @Test(
        "Numbers may be written as text but must be numbers",
        arguments: [
            (#""52.52""#, 52.52), ("52.52", 52.52), (#"" -7 ""#, -7), (#""1e2""#, 100), ("1e999", nil),
            (#""1e999""#, nil),
            (#""nan""#, nil), (#""inf""#, nil), (#""0x10""#, nil), (#""""#, nil), (#""52,52""#, nil), ("true", nil),
            ("[1]", nil),
        ])
    func numbers(_ text: String, _ expected: Double?) throws {
        #expect(try parse(text).double == expected)
    }

    @Test(
        "Whole numbers are clamped, and fractions are refused",
        arguments: [
            ("13", 13), (#""13""#, 13), ("13.0", 13), ("13.5", nil), ("1e30", Int.max), ("-1e30", Int.min),
            ("1e999", nil),
            ("9223372036854775807", Int.max), ("-1", -1),
        ])
    func wholeNumbers(_ text: String, _ expected: Int?) throws {
        #expect(try parse(text).integer == expected)
    }
}
