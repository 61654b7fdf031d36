import Foundation
import Testing

@testable import SUSI

@Suite struct ExchangeDecoderTests {
    // MARK: Actions

    @Test(
        "Each unreadable part of a map gets its own default",
        arguments: [
            (#""latitude": "52.52", "longitude": "13.4", "zoom": "12""#, 52.52, 13.4, 12, false),
            (#""latitude": 52.52, "longitude": 13.4, "zoom": 12"#, 52.52, 13.4, 12, false),
            (#""latitude": "north", "longitude": "13.4", "zoom": "x""#, 0, 13.4, 13, true),
            (#""latitude": 91, "longitude": -181, "zoom": -1"#, 0, 0, 13, true),
            (#""latitude": 1e999, "longitude": "1e999", "zoom": 1e999"#, 0, 0, 13, true),
            (#""latitude": "NaN", "longitude": "inf", "zoom": 12.5"#, 0, 0, 13, true),
            (#""latitude": [52], "longitude": {"x": 1}, "zoom": true"#, 0, 0, 13, true),
            (#""latitude": null, "longitude": null, "zoom": null"#, 0, 0, 13, false), (#""other": 1"#, 0, 0, 13, false),
        ])
    func maps(
        _ members: String, _ latitude: Double, _ longitude: Double, _ zoom: Int, _ isKeptRaw: Bool
    ) throws {
        let reply = try #require(try reply(#"{"type": "map", \#(members)}"#))
        #expect(reply.action == .map(latitude: latitude, longitude: longitude, zoom: zoom))
        #expect((reply.raw != nil) == isKeptRaw)
    }

    private static let threeRows = #"[{"a": "1", "b": 1.5}, 7, {"a": "2", "c": [1, {"x": null}]}, {"b": null}]"#

    @Test(
        "A count limits the rows; -1 and nonsense don't",
        arguments: [
            ("-1", 3), (#""-1""#, 3), ("0", 0), ("1", 1), (#""2""#, 2), ("3", 3), ("4", 3), ("1e30", 3), ("-5", 3),
            ("null", 3), ("[2]", 3), ("1.5", 3), (#""many""#, 3), ("1e999", 3),
        ])
    func counts(_ count: String, _ expected: Int) throws {
        let reply = try reply(#"{"type": "table", "count": \#(count)}"#, data: Self.threeRows)
        guard case .table(_, let rows)? = reply?.action else {
            Issue.record("The reply isn't a table.")
            return
        }
        #expect(rows.count == expected)
    }

    @Test("A table has its columns in order, and a cell for each column")
    func tables() throws {
        let action = #"{"type": "table", "columns": {"c": "See", "a": 7, "none": null, "a": "Aye"}}"#
        #expect(
            try reply(action, data: Self.threeRows)?.action
                == .table(
                    columns: [
                        .init(original: "c", shown: "See"), .init(original: "a", shown: "Aye"),
                        .init(original: "none", shown: "none"),
                    ],
                    rows: [["", "1", ""], [#"[1,{"x":null}]"#, "2", ""], ["", "", ""]]))
        #expect(
            try reply(#"{"type": "table", "columns": ["a"]}"#, data: Self.threeRows)?.action
                == .table(
                    columns: [.init(original: "a", shown: "a"), .init(original: "b", shown: "b")],
                    rows: [["1", "1.5"], ["2", ""], ["", ""]]))
        #expect(
            try reply(#"{"type": "table", "columns": {"a": "A"}}"#, data: "7")?.action
                == .table(columns: [.init(original: "a", shown: "A")], rows: []))
    }

    @Test("A feed shows the columns its action names")
    func feeds() throws {
        let data = #"[{"t": 1, "d": true, "l": "u"}, {"x": 1}, {"title": "own", "t": null}]"#
        #expect(
            try reply(#"{"type": "rss", "count": 1, "title": "t", "description": "d", "link": "l"}"#, data: data)?
                .action
                == .rss(limit: 1, feed: [.init(title: "1", description: "true", link: "u")]))
        #expect(
            try reply(#"{"type": "rss", "title": {}, "link": 5}"#, data: data)?.action
                == .rss(limit: nil, feed: [.init(title: "own", description: "", link: "")]))
        #expect(
            try reply(#"{"type": "websearch", "query": 5, "count": "3"}"#, data: data)?.action
                == .websearch(query: "5", limit: 3, results: [.init(title: "own", description: "", link: "")]))
    }

    @Test(
        "An unknown action is kept unchanged",
        arguments: [
            (#"{"type": "timer_set", "time": 1790000000}"#, "timer_set"), (#"{"expression": "x"}"#, "unknown"),
            (#"{"type": 5}"#, "unknown"), (#"{"type": null}"#, "unknown"), (#"{"type": ""}"#, "unknown"),
            ("7", "unknown"),
            (#""answer""#, "unknown"), (#"[{"type": "answer"}]"#, "unknown"), (#"{"type": "ANSWER"}"#, "ANSWER"),
            (#"{"type": "x", "big": 1e999, "twice": 1, "twice": 2}"#, "x"), ("null", "unknown"),
        ])
    func unknownActions(_ action: String, _ type: String) throws {
        let reply = try #require(try reply(action))
        #expect(reply.action == .unknown(type: type))
        #expect(reply.raw == (try JSONParser.parse(Data(action.utf8)).text))
    }

    @Test(
        "Values of an unexpected type become text or nothing",
        arguments: [
            (#"{"type": "answer"}"#, Action.answer(expression: "", language: nil), false),
            (
                #"{"type": "answer", "expression": 5, "language": "en"}"#, .answer(expression: "5", language: "en"),
                false
            ),
            (#"{"type": "answer", "expression": ["x"]}"#, .answer(expression: "", language: nil), true),
            (#"{"type": "anchor", "link": "l", "text": false}"#, .anchor(link: "l", text: "false"), false),
            (#"{"type": "anchor", "link": {}, "text": null}"#, .anchor(link: "", text: ""), true),
            (#"{"type": "video_play", "identifier": 1}"#, .video(identifier: "1", kind: ""), false),
            (#"{"type": "audio_play"}"#, .audio(identifier: "", kind: ""), false), (#"{"type": "stop"}"#, .stop, false),
        ])
    func otherTypes(
        _ action: String, _ expected: Action, _ isKeptRaw: Bool
    ) throws {
        let reply = try #require(try reply(action))
        #expect(reply.action == expected)
        #expect((reply.raw != nil) == isKeptRaw)
    }

    // MARK: Answers

    @Test("Every action of the first answer that has actions is a reply, in order")
    func replies() throws {
        let exchange = try exchange(
            Data(
                #"""
                {"query": "q", "answers": [7, {"actions": "none"}, {"actions": [
                  {"type": "answer", "expression": "1"}, {"type": "stop"}, {"type": "answer", "expression": "2"}]},
                  {"actions": [{"type": "answer", "expression": "other"}]}]}
                """#.utf8))
        #expect(
            exchange.replies.map(\.action) == [
                .answer(expression: "1", language: nil), .stop, .answer(expression: "2", language: nil),
            ])
    }

    @Test(
        "An empty answer keeps the question",
        arguments: [
            #"{"query": "q"}"#, #"{"query": "q", "answers": []}"#, #"{"query": "q", "answers": null}"#,
            #"{"query": "q", "answers": "x"}"#, #"{"query": "q", "answers": [[], null, 1]}"#,
            #"{"query": "q", "answers": [{"actions": []}]}"#, #"{"query": "q", "answers": [{"data": []}]}"#,
        ])
    func emptyAnswers(_ text: String) throws {
        let exchange = try exchange(Data(text.utf8))
        #expect(exchange.query == "q")
        #expect(exchange.replies.isEmpty)
    }

    @Test("Missing brackets are assumed")
    func missingBrackets() throws {
        let exchange = try exchange(
            Data(#"{"query": 5, "answers": {"skills": 7, "actions": {"type": "answer", "expression": "x"}}}"#.utf8))
        #expect(exchange.query == "5")
        #expect(exchange.replies.map(\.action) == [.answer(expression: "x", language: nil)])
        #expect(exchange.skill == "")
    }

    @Test(
        "A document that isn't an answer is refused",
        arguments: ["{}", "null", "7", "\"text\"", #"{"answer": []}"#, #"{"answers": null}"#])
    func notAnswers(_ text: String) {
        #expect(throws: SusiError.self) { try decode(text) }
    }

    @Test(
        "An unreadable date becomes the time of receipt",
        arguments: [
            (#""yesterday""#, false), (#""""#, false), ("null", false), ("1778764938473", false), ("[]", false),
            (#""2026-05-14T13:22:18Z""#, true),
        ])
    func badDates(_ date: String, _ isRead: Bool) throws {
        let exchange = try exchange(Data(#"{"query": "q", "query_date": \#(date), "answer_date": \#(date)}"#.utf8))
        let expected = isRead ? Date(timeIntervalSince1970: 1_778_764_938) : receipt
        #expect(exchange.queryDate == expected)
        #expect(exchange.answerDate == expected)
    }

    @Test("A history skips entries that are neither question nor answer")
    func history() throws {
        let result = try ExchangeDecoder.decode(
            Data(#"{"cognitions": [7, {"query": "a"}, null, [], {"x": 1}, {"query": "b"}]}"#.utf8), receivedAt: receipt)
        #expect(result.exchanges.map(\.query) == ["a", "b"])
        #expect(result.notes.sentences.filter { $0.contains("left out") }.count == 4)
        #expect(try decode(#"{"cognitions": {"query": "a"}}"#).map(\.query) == ["a"])
        #expect(try decode(#"{"cognitions": 7}"#).isEmpty)
        #expect(try decode(#"[{"query": "a"}, {"query": "b"}]"#).map(\.query) == ["a", "b"])
    }

    // MARK: Identity

    @Test("An exchange has the same identity wherever it comes from")
    func identity() throws {
        let one = #""query": "a", "query_date": "2026-05-14T13:22:18Z", "answers": [{"actions": [{"type": "stop"}]}]"#
        let answer = try exchange(Data("{\(one)}".utf8))
        let history = try decode(#"{"cognitions": [{"count": 1, \#(one)}, {\#(one)}]}"#)
        #expect(history.map(\.identity) == [answer.identity, answer.identity])
        #expect(try exchange(Data("{\(one.replacing("stop", with: "go"))}".utf8)).identity != answer.identity)
        #expect(try exchange(Data("{\(one.replacing("\"a\"", with: "\"b\""))}".utf8)).identity != answer.identity)
        #expect(try exchange(Data("{\(one.replacing("18Z", with: "19Z"))}".utf8)).identity != answer.identity)
    }

    @Test("Undated questions are kept apart, and none is dropped")
    func undatedQuestions() throws {
        let text = #"{"cognitions": [{"query": "a"}, {"query": "a"}, {"query": "b"}]}"#
        let identities = try decode(text).map(\.identity)
        #expect(Set(identities).count == 3)
        #expect(try decode(text).map(\.identity) == identities)
    }

    // MARK: Size

    @Test("Text too long for a property is cut between characters")
    func longText() throws {
        let long = "x" + String(repeating: "é", count: 10 << 20)
        guard case .answer(let text, _)? = try reply(#"{"type": "answer", "expression": "\#(long)"}"#)?.action else {
            Issue.record("The reply isn't an answer.")
            return
        }
        #expect(text.utf8.count == ExchangeDecoder.maximumTextByteCount - 1)
        #expect(text.hasSuffix("é"))
    }

    @Test("Text repeated in every message is kept short")
    func repeatedText() throws {
        let long = String(repeating: "x", count: 1 << 20)
        let text = #"{"query": "q", "answers": [{"skills": ["\#(long)"], "data": [{"\#(long)": 1}], "actions": ["#
        let action = #"{"type": "table"}"#
        let exchange = try exchange(
            Data((text + Array(repeating: action, count: 500).joined(separator: ",") + "]}]}").utf8))
        #expect(exchange.skill.utf8.count == ExchangeDecoder.maximumNameByteCount)
        let size = exchange.replies.reduce(0) { sum, reply in
            if case .table(let columns, _) = reply.action {
                columns.reduce(sum) { $0 + $1.original.utf8.count + $1.shown.utf8.count }
            } else {
                sum
            }
        }
        #expect(size > 0 && size <= RowAllowance.maximumByteCount)
    }

    @Test("Thousands of rows are imported, but the total over all messages is bounded")
    func manyRows() throws {
        let data = "[" + (0..<5_000).map { #"{"a": \#($0), "b": "x"}"# }.joined(separator: ",") + "]"
        guard case .table(_, let rows)? = try reply(#"{"type": "table"}"#, data: data)?.action else {
            Issue.record("The reply isn't a table.")
            return
        }
        #expect(rows.count == 5_000 && rows.last == ["4999", "x"])

        let actions = String(repeating: #"{"type": "table"},"#, count: 999) + #"{"type": "table"}"#
        let result = try ExchangeDecoder.decode(
            Data(#"{"query": "q", "answers": [{"data": \#(data), "actions": [\#(actions)]}]}"#.utf8),
            receivedAt: receipt)
        let count = result.exchanges[0].replies.reduce(0) { sum, reply in
            if case .table(let columns, let rows) = reply.action {
                sum + columns.count * 2 + rows.count * 2
            } else {
                sum
            }
        }
        #expect((RowAllowance.maximumCellCount - 4...RowAllowance.maximumCellCount).contains(count))
        #expect(result.exchanges[0].replies.count == 1_000)
        #expect(result.notes.sentences.count == Notes.maximumCount && result.notes.leftOutCount > 0)
    }

    @Test("Actions that search the data in vain are limited like those that find something")
    func manyRowsInVain() throws {
        let data = "[" + Array(repeating: "{}", count: 2_000).joined(separator: ",") + "]"
        let actions = Array(repeating: #"{"type": "rss"}"#, count: 300).joined(separator: ",")
        let result = try ExchangeDecoder.decode(
            Data(#"{"query": "q", "answers": [{"data": \#(data), "actions": [\#(actions)]}]}"#.utf8),
            receivedAt: receipt)
        #expect(result.exchanges[0].replies.count == 300)
        #expect(result.notes.sentences.count == 50)
        #expect(result.notes.sentences.allSatisfy { $0.contains(RowAllowance.explanation) })
    }
}
