import PostgresClient
import Testing

@testable import TomboloJSONAPI

@Suite("Numbers of resources that are kept") struct KeptTotalsTests {
    private static func question(_ number: Int, of className: String?) -> KeptTotals.Question {
        KeptTotals.Question(
            sql: "SELECT count(*) FROM item WHERE n = $1", parameters: [.int64(Int64(number))], className: className)
    }

    @Test("are given out until rows of their class change")
    func classes() {
        var kept = KeptTotals()
        let (rooms, talks, both) = (
            Self.question(1, of: "Room"), Self.question(2, of: "Talk"), Self.question(3, of: nil)
        )
        for (question, total) in [(rooms, 10), (talks, 20), (both, 30)] as [(KeptTotals.Question, Int64)] {
            #expect(kept.total(question) == nil)
            kept.keep(total, of: question, since: kept.begin())
            #expect(kept.total(question) == total)
        }
        kept.drop(["Talk"])
        #expect(kept.total(rooms) == 10)
        #expect(kept.total(talks) == nil)
        #expect(kept.total(both) == nil)
        kept.dropAll()
        #expect(kept.total(rooms) == nil)
        #expect(kept.byteCount == 0)
    }

    @Test("aren't kept if a row of their class changed while it was counted")
    func changedMeanwhile() {
        let changes: [(String, String?, isKept: Bool)] = [
            ("Room", "Room", false), ("Talk", "Room", true), ("Talk", nil, false),
        ]
        for (changed, counted, isKept) in changes {
            var kept = KeptTotals()
            let question = Self.question(1, of: counted)
            let beginning = kept.begin()
            kept.drop([changed])
            kept.keep(5, of: question, since: beginning)
            #expect((kept.total(question) != nil) == isKept, "\(counted ?? "any") while \(changed) changed")
            kept.keep(5, of: question, since: kept.begin())
            #expect(kept.total(question) == 5)
        }
        var kept = KeptTotals()
        let beginning = kept.begin()
        kept.dropAll()
        kept.keep(5, of: Self.question(1, of: "Room"), since: beginning)
        #expect(kept.count == 0)
    }

    @Test("stay within their bounds, and those used last stay longest")
    func bounds() {
        var kept = KeptTotals(countLimit: 100, byteLimit: 1 << 20)
        for number in 0..<1_000 {
            kept.keep(Int64(number), of: Self.question(number, of: "Room"), since: kept.begin())
            _ = kept.total(Self.question(0, of: "Room"))
            #expect(kept.count <= 100)
        }
        #expect(kept.total(Self.question(0, of: "Room")) == 0)
        #expect(kept.total(Self.question(999, of: "Room")) == 999)
        #expect(kept.total(Self.question(500, of: "Room")) == nil)

        var small = KeptTotals(countLimit: 100, byteLimit: 1_000)
        for number in 0..<100 {
            small.keep(1, of: Self.question(number, of: nil), since: small.begin())
            #expect(small.byteCount <= 1_000)
        }
        #expect(small.count > 5)
        let long = KeptTotals.Question(sql: String(repeating: "x", count: 500), parameters: [], className: nil)
        small.keep(1, of: long, since: small.begin())
        #expect(small.total(long) == nil)
    }
}
