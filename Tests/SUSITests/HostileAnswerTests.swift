import Foundation
import RandomValues
import Testing
import Tombolo

@testable import SUSI

/// Answers corrupted in random places: whatever can be decoded can be stored.
@Suite struct HostileAnswerTests {
    static let seed = UInt64.random(in: 0...UInt64.max)

    private static let answer = #"""
        {"query": "quotes", "count": 1, "query_date": "2026-05-14T13:22:18.473Z", "answers": [{"data": [
        {"a": "EUR", "b": "1.09"}, {"a": "USD", "b": 7, "link": "l"}], "metadata": {"count": 2}, "actions": [
        {"type": "answer", "language": "en", "expression": "Hello!"}, {"type": "anchor", "link": "l", "text": "t"},
        {"type": "map", "latitude": "52.52", "longitude": 13.4, "zoom": "13"},
        {"type": "table", "count": 2, "columns": {"a": "A", "b": "B"}},
        {"type": "rss", "count": -1, "title": "a", "description": "b", "link": "link"},
        {"type": "websearch", "query": "swift", "count": "3"}, {"type": "video_play", "identifier": "x"},
        {"type": "stop"}, {"type": "timer_set", "time": 5}], "skills": ["/s"]}],
        "answer_date": "2026-05-14T13:22:18.479Z"}
        """#

    private static let strangeValues = [
        "null", "true", "0", "-1", "-0", "1e999", "-1e999", "1e-999", "9223372036854775808", "0.1", #""""#, #""5""#,
        #""a\u0000b""#, #""\ud800""#, #""2026-02-30""#, #""9999-12-31T23:59:59-23:00""#,
        #""0001-01-01T00:00:00+23:00""#,
        "[]", "{}", "[[[]]]", #"[{"type": "answer"}]"#, #"{"type": "map"}"#, #"{"a": {"b": {"c": [1, null]}}}"#,
        #""answer""#, #""map""#, #""table""#, #""rss""#, #""-1""#, #""‮\u001b[31m""#,
        String(repeating: "[", count: 200) + String(repeating: "]", count: 200),
    ]

    /// The limit for what is copied into one answer. Copying at every depth of nested arrays would double its size each
    /// time, until the parser refuses it.
    private static let maximumCopiedByteCount = 20_000

    @Test("Any value anywhere in an answer can be stored")
    func randomAnswers() throws {
        print("seed \(Self.seed)")
        var random = SeededGenerator(seed: Self.seed)
        let strange = try Self.strangeValues.map { try JSONParser.parse(Data($0.utf8)) }
        let base = try JSONParser.parse(Data(Self.answer.utf8))
        let folder = try TemporaryFolder()
        let store = try ChatStore(folder: folder.url)
        var count = 0
        for round in 0..<600 {
            var document = base
            var room = Self.maximumCopiedByteCount
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                document = Self.change(document, strange, &room, &random)
            }
            let text = document.text
            guard document["answers"] != nil || document["query"] != nil || document["cognitions"] != nil else {
                continue
            }
            let failing = "seed \(Self.seed), round \(round): \(text)"
            let exchanges: [Exchange]
            do {
                exchanges = try decode(text)
                count += try store.add(exchanges)
            } catch {
                Issue.record(error, "\(failing)")
                continue
            }
            for exchange in exchanges {
                #expect(try decode(text).map(\.identity).contains(exchange.identity), "\(failing)")
            }
        }
        #expect(count > 100)
        var lines = 0
        for message in store.messages {
            #expect(!message.line.unicodeScalars.contains { $0.properties.generalCategory == .control })
            lines += 1
        }
        #expect(lines == store.messages.count)
    }

    @Test("Corrupted bytes give an error or an answer, never a trap")
    func brokenBytes() throws {
        print("seed \(Self.seed)")
        var random = SeededGenerator(seed: Self.seed &+ 1)
        for _ in 0..<2_000 {
            var bytes = [UInt8](Self.answer.utf8)
            for _ in 0..<Int.random(in: 1..<6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                default: bytes.removeSubrange(place..<min(bytes.count, place + 20))
                }
                if bytes.isEmpty { break }
            }
            do {
                for exchange in try decode(Data(bytes)) { #expect(!exchange.identity.isEmpty) }
            } catch is JSONError {
            } catch is SusiError {}
        }
        for length in 0..<Self.answer.utf8.count {
            #expect(throws: JSONError.self) { try decode(Data(Self.answer.utf8.prefix(length))) }
        }
    }

    /// Replaces a random value with a strange one.
    private static func change(
        _ value: JSON, _ strange: [JSON], _ room: inout Int, _ random: inout SeededGenerator
    ) -> JSON {
        guard Int.random(in: 0..<8, using: &random) > 0 else { return strange.randomElement(using: &random) ?? .null }
        switch value {
        case .array(var items) where !items.isEmpty:
            let place = Int.random(in: 0..<items.count, using: &random)
            items[place] = change(items[place], strange, &room, &random)
            if Bool.random(using: &random), take(items[place], from: &room) { items.append(items[place]) }
            return .array(items)
        case .object(var members) where !members.isEmpty:
            let place = Int.random(in: 0..<members.count, using: &random)
            members[place].value = change(members[place].value, strange, &room, &random)
            if Int.random(in: 0..<10, using: &random) == 0, take(members[place].value, from: &room) {
                members.append(members[place])
            }
            return .object(members)
        default: return strange.randomElement(using: &random) ?? .null
        }
    }

    /// - Returns: whether there was still room for a copy of the value.
    private static func take(_ value: JSON, from room: inout Int) -> Bool {
        let byteCount = value.text.utf8.count
        guard byteCount <= room else { return false }
        room -= byteCount
        return true
    }
}
