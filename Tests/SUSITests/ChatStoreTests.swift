import Foundation
import Testing
import Tombolo

@testable import SUSI

@Suite struct ChatStoreTests {
    private static let answer = #"""
        {"query": "q", "query_date": "2026-05-14T13:22:18Z", "answer_date": "2026-05-14T13:22:19Z", "answers": [{
        "data": [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}], "skills": ["/s"], "actions": [
        {"type": "answer", "expression": "Hello!", "language": "en"}, {"type": "anchor", "link": "l", "text": "t"},
        {"type": "map", "latitude": "52.52", "longitude": "13.4", "zoom": "x"},
        {"type": "table", "columns": {"b": "Bee", "a": "Aye"}},
        {"type": "rss", "count": 1, "title": "a", "description": "b", "link": "c"},
        {"type": "websearch", "query": "w", "count": 3, "title": "a"}, {"type": "audio_play", "identifier": "i"},
        {"type": "timer_set"}]}]}
        """#

    @Test("Every action becomes a message with its data, in order")
    func actions() throws {
        let folder = try TemporaryFolder()
        let store = try ChatStore(folder: folder.url)
        #expect(try store.add(try decode(Self.answer)) == 1)
        let messages = Array(store.messages)
        #expect(
            messages.map(\.actionType) == [
                "answer", "answer", "anchor", "map", "table", "rss", "websearch", "audio_play", "timer_set",
            ])
        #expect(messages.map(\.fromUser) == [true] + Array(repeating: false, count: 8))
        #expect(messages.map(\.message) == ["q", "Hello!", "t", "", "", "", "w", "", ""])
        #expect(messages.allSatisfy { $0.queryDate == Date(timeIntervalSince1970: 1_778_764_938) })
        #expect(messages.allSatisfy { $0.answerDate == Date(timeIntervalSince1970: 1_778_764_939) && $0.isSent })
        #expect(messages[1].answerData?.expression == "Hello!" && messages[1].answerData?.language == "en")
        #expect(messages[1].skill == "/s")
        #expect(messages[2].anchorData?.link == "l" && messages[2].anchorData?.text == "t")
        #expect(messages[3].mapData?.latitude == 52.52 && messages[3].mapData?.longitude == 13.4)
        #expect(messages[3].mapData?.zoom == 13 && messages[3].raw?.contains(#""zoom":"x""#) == true)
        #expect(messages[4].tableData?.columns.map(\.changed) == ["Bee", "Aye"])
        #expect(messages[4].tableData?.rows.map { Array($0.cells) } == [["2", "1"], ["4", "3"]])
        #expect(messages[5].rssData?.count == 1 && messages[5].rssData?.feed.map(\.title) == ["1"])
        #expect(messages[6].websearchData?.results.map(\.title) == ["1", "3"])
        #expect(messages[7].mediaData?.identifier == "i")
        #expect(messages[8].raw == #"{"type":"timer_set"}"#)
    }

    @Test("Importing a history twice adds nothing the second time")
    func importingTwice() throws {
        let folder = try TemporaryFolder()
        let store = try ChatStore(folder: folder.url)
        let exchanges = try decode("[\(Self.answer), {\"query\": \"undated\"}, {\"query\": \"undated\"}]")
        #expect(try store.add(exchanges) == 3)
        let count = store.messages.count
        #expect(try store.add(exchanges) == 0)
        #expect(try store.add(try decode(Self.answer)) == 0)
        #expect(store.messages.count == count)
    }

    @Test("Messages are ordered by their question, then by arrival")
    func messageOrder() throws {
        let folder = try TemporaryFolder()
        let store = try ChatStore(folder: folder.url)
        func item(_ query: String, _ day: String) -> String {
            #"{"query": "\#(query)", "query_date": "2026-05-\#(day)", "answers": [{"actions": [{"type": "answer", "expression": "to \#(query)"}]}]}"#
        }
        _ = try store.add(try decode(item("c", "16")))
        _ = try store.add(try decode("[\(item("b", "15")), \(item("a", "14"))]"))
        _ = try store.add(try decode(item("b2", "15")))
        #expect(store.messages.map(\.message) == ["a", "to a", "b", "to b", "b2", "to b2", "c", "to c"])
    }

    @Test("A question is unsent until its answer arrives")
    func unsentQuestion() throws {
        let folder = try TemporaryFolder()
        let store = try ChatStore(folder: folder.url)
        let question = try store.ask("q", at: receipt)
        #expect(store.messages.map(\.isSent) == [false])
        let answers = try store.answer(question, with: try decode(Self.answer))
        #expect(answers.count == 8)
        #expect(store.messages.map(\.isSent).allSatisfy { $0 })
        #expect(store.messages.first?.message == "q")
        // The history contains this exchange too.
        #expect(try store.add(try decode(Self.answer)) == 0)
        #expect(store.messages.count == 9)

        // The same answer to another question is kept.
        let second = try store.ask("other", at: receipt)
        _ = try store.answer(second, with: try decode(Self.answer))
        #expect(store.messages.filter(\.fromUser).map(\.message) == ["q", "other"])
        #expect(store.messages.count == 18)
    }

    @Test("An answer to a deleted question isn't kept")
    func deletedQuestion() throws {
        let folder = try TemporaryFolder()
        let store = try ChatStore(folder: folder.url)
        #expect(throws: SusiError.self) { try store.answer(ObjectId.generate(), with: try decode(Self.answer)) }
        #expect(store.messages.isEmpty)
    }
}
