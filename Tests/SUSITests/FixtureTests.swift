import Foundation
import Testing

@testable import SUSI

/// The answers of a real server, decoded.
@Suite(.enabled(if: Fixtures.areHere, "The fixtures are not in ../shared/fixtures/susi.")) struct FixtureTests {
    private func actions(_ name: String) throws -> [Action] {
        try exchange(Fixtures.data(name)).replies.map(\.action)
    }

    @Test("An answer has its text, skill and dates")
    func answer() throws {
        let exchange = try exchange(Fixtures.data("01-answer"))
        #expect(exchange.query == "hello")
        #expect(exchange.replies == [.init(action: .answer(expression: "Hello!", language: "en"), raw: nil)])
        #expect(exchange.skill == "/skills/demo.txt")
        #expect(abs(exchange.queryDate.timeIntervalSince1970 - 1_778_764_938.473) < 0.000_01)
        #expect(abs(exchange.answerDate.timeIntervalSince1970 - 1_778_764_938.479) < 0.000_01)
    }

    @Test("Text, a link and a map stay in order")
    func mixedActions() throws {
        #expect(
            try actions("02-map-anchor") == [
                .answer(expression: "Berlin is a city.", language: nil),
                .anchor(link: "https://www.openstreetmap.org/#map=13/52.52/13.405", text: "Here is a map"),
                .map(latitude: 52.52, longitude: 13.405, zoom: 13),
            ])
    }

    @Test("A table with a count of two shows two of its three rows")
    func limitedTable() throws {
        #expect(
            try actions("03-table").last
                == .table(
                    columns: [
                        .init(original: "currency", shown: "Valuta"), .init(original: "rate", shown: "Quota"),
                    ],
                    rows: [["EUR/USD", "1.09"], ["USD/JPY", "113.3"]]))
    }

    @Test("Feeds have as many entries as their count says")
    func limitedFeeds() throws {
        #expect(
            try actions("04-rss").last
                == .rss(limit: 1, feed: [.init(title: "A", description: "about A", link: "https://example.org/a")]))
        #expect(
            try actions("10-count-unlimited") == [
                .rss(limit: nil, feed: [.init(title: "x", description: "y", link: "z")])
            ])
    }

    @Test("A search without results keeps its words")
    func emptySearch() throws {
        #expect(try actions("05-websearch").last == .websearch(query: "swift", limit: 3, results: []))
    }

    @Test("Video, audio and stop actions have their own types")
    func mediaActions() throws {
        #expect(
            try actions("06-media-stop") == [
                .video(identifier: "abc123", kind: "youtube"),
                .audio(identifier: "https://example.org/a.mp3", kind: "url"), .stop,
            ])
    }

    @Test("A history has its exchanges in order")
    func exchanges() throws {
        let exchanges = try decode(Fixtures.data("07-memory"))
        #expect(exchanges.map(\.query) == ["hello", "where is Rome"])
        #expect(exchanges[1].replies.map(\.action) == [.map(latitude: 41.9, longitude: 12.5, zoom: 12)])
    }

    @Test("Bad numbers and dates fall back to defaults")
    func badNumbers() throws {
        #expect(try actions("12-map-not-a-number") == [.map(latitude: 0, longitude: 13.4, zoom: 13)])
        let undated = try exchange(Fixtures.data("15-bad-date"))
        #expect(undated.queryDate == receipt && undated.answerDate == receipt)
    }

    @Test("Unknown actions are kept raw, in their place among known ones")
    func unknownBetweenKnown() throws {
        #expect(
            try exchange(Fixtures.data("16-unknown-action")).replies == [
                .init(action: .unknown(type: "timer_set"), raw: #"{"type":"timer_set","time":1790000000}"#),
                .init(action: .answer(expression: "Timer set", language: nil), raw: nil),
                .init(action: .unknown(type: "emotion"), raw: #"{"type":"emotion"}"#),
            ])
    }

    @Test("An answer without data is still an answer")
    func noData() throws {
        #expect(try actions("18-data-missing") == [.answer(expression: "no data member", language: nil)])
    }
}
