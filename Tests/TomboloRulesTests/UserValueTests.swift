import Foundation
import Testing
import TomboloModel
import TomboloRules

@Suite struct UserValueTests {
    private static func decoded(_ text: String) throws -> UserValue { try UserValue(json: Data(text.utf8)) }

    @Test("JSON of every kind is decoded")
    func decoding() throws {
        #expect(
            try Self.decoded(#"{"a": [1, -2.5, true, null, "é\u0000"], "b": {"c": 9007199254740993}}"#)
                == .object([
                    "a": .array([.int(1), .double(-2.5), .bool(true), .null, .string("é\u{0}")]),
                    "b": .object(["c": .int(9_007_199_254_740_993)]),
                ]))
        #expect(try Self.decoded("1e300") == .double(1e300))
        #expect(try Self.decoded("0") == .int(0))
        #expect(try Self.decoded("false") == .bool(false))
    }

    @Test("text that isn't JSON is refused", arguments: ["", "{", "[1", "{\"a\"}", "nul", "\"", "1 2", "\u{0}"])
    func syntax(text: String) {
        let error = #expect(throws: ValueError.self) { try Self.decoded(text) }
        #expect(error?.message.hasPrefix("User data isn't JSON") == true)
    }

    @Test("user data is bounded in size and depth")
    func bounds() throws {
        let long = "\"" + String(repeating: "x", count: UserValue.maximumByteCount - 2) + "\""
        #expect(throws: Never.self) { try Self.decoded(long) }
        #expect(throws: ValueError.self) { try Self.decoded(" " + long) }
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try Self.decoded(nested(UserValue.maximumDepth + 1)) }
        for depth in [UserValue.maximumDepth + 2, 400, 30_000] {
            #expect(throws: ValueError.self) { try Self.decoded(nested(depth)) }
        }
    }

    @Test("strings are compared by their bytes")
    func texts() {
        #expect(UserValue.string("\u{e9}") != .string("e\u{301}"))
        #expect(
            Subject(user: ObjectId(), data: ["a": .string("\u{e9}")])
                != Subject(user: ObjectId(), data: ["a": .string("e\u{301}")]))
    }

    @Test("null values count as missing")
    func nulls() {
        let subject = Subject(
            user: ObjectId(), customData: ["a": .null, "b": .array([.null, .object(["c": .null])])])
        #expect(subject.customData == ["b": .array([.object([:])])])
    }
}
