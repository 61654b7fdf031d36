import PostgresClient
import Testing

@testable import TomboloJSONAPI

@Suite("Cached answers") struct AnswerCacheTests {
    private static func kept(_ count: Int = 100, bytes: Int = 1 << 20) -> KeptTotals {
        KeptTotals(countLimit: count, byteLimit: bytes)
    }

    private static func question(_ number: Int) -> PostgresStatement {
        PostgresStatement("SELECT count(*) FROM item WHERE n = $1", [.int64(Int64(number))])
    }

    @Test("are served until rows of one of their classes change")
    func classes() {
        var kept = Self.kept()
        let (rooms, talks, both, any) = (Self.question(1), Self.question(2), Self.question(3), Self.question(4))
        let questions: [(PostgresStatement, Set<String>?)] = [
            (rooms, ["Room"]), (talks, ["Talk"]), (both, ["Room", "Talk"]), (any, nil),
        ]
        for (question, classNames) in questions {
            #expect(kept.answer(to: question) == nil)
            #expect(!kept.contains(question))
            kept.keep(10, to: question, of: classNames, since: kept.begin())
            #expect(kept.contains(question))
            #expect(kept.answer(to: question) == 10)
        }
        kept.drop(["Person"])
        #expect(kept.answer(to: any) == nil)
        #expect(kept.answer(to: both) == 10)
        kept.drop(["Talk"])
        #expect(kept.answer(to: rooms) == 10)
        #expect(kept.answer(to: talks) == nil)
        #expect(kept.answer(to: both) == nil)
        #expect(kept.count == 1)
        kept.dropAll()
        #expect(kept.answer(to: rooms) == nil)
        #expect(kept.byteCount == 0)
    }

    @Test("aren't served if a row of their classes changed while they were being made")
    func changedMeanwhile() {
        let changes: [(String, Set<String>?, isKept: Bool)] = [
            ("Room", ["Room"], false), ("Talk", ["Room"], true), ("Talk", ["Room", "Talk"], false),
            ("Talk", nil, false),
        ]
        for (changed, classNames, isKept) in changes {
            var kept = Self.kept()
            let question = Self.question(1)
            let beginning = kept.begin()
            kept.drop([changed])
            kept.keep(5, to: question, of: classNames, since: beginning)
            #expect((kept.answer(to: question) != nil) == isKept, "\(classNames ?? []) while \(changed) changed")
            kept.keep(6, to: question, of: classNames, since: kept.begin())
            #expect(kept.answer(to: question) == 6)
            // A request that began earlier finishes later.
            kept.keep(5, to: question, of: classNames, since: beginning)
            #expect(kept.answer(to: question) == (isKept ? 5 : 6))
        }
        var kept = Self.kept()
        let beginning = kept.begin()
        kept.dropAll()
        kept.keep(5, to: Self.question(1), of: ["Room"], since: beginning)
        #expect(kept.count == 0)
    }

    @Test("stay within the bounds, and the most recently used ones stay longest")
    func bounds() {
        var kept = Self.kept()
        for number in 0..<1_000 {
            kept.keep(Int64(number), to: Self.question(number), of: ["Room"], since: kept.begin())
            _ = kept.answer(to: Self.question(0))
            #expect(kept.count <= 100)
        }
        #expect(kept.answer(to: Self.question(0)) == 0)
        #expect(kept.answer(to: Self.question(999)) == 999)
        #expect(kept.answer(to: Self.question(500)) == nil)

        var small = Self.kept(bytes: 1_000)
        for number in 0..<100 {
            small.keep(1, to: Self.question(number), of: nil, since: small.begin())
            #expect(small.byteCount <= 1_000)
        }
        #expect(small.count > 5)
        // An answer that replaces another replaces its bytes, too.
        let (count, bytes) = (small.count, small.byteCount)
        small.keep(2, to: Self.question(99), of: nil, since: small.begin())
        #expect(small.count == count && small.byteCount == bytes)
        let long = PostgresStatement(String(repeating: "x", count: 500))
        small.keep(1, to: long, of: nil, since: small.begin())
        #expect(small.answer(to: long) == nil)
    }
}
