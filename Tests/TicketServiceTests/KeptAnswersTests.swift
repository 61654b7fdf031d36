import Testing
import TomboloHTTP
import TomboloModel

@testable import TicketService

@Suite("Kept answers") struct KeptAnswersTests {
    private static func id(_ number: UInt32) -> ObjectId { ObjectId(high: 0, low: number) }

    /// Renders an event's page from some rows, while `changed` change.
    private static func keep(
        _ page: String, of event: ObjectId, rows: Set<ObjectId> = [], changing changed: Set<ObjectId> = [],
        in kept: inout KeptAnswers
    ) {
        let work = kept.begin(event)
        if !changed.isEmpty { kept.drop(changed) }
        kept.end(work, { $0.page = page }, rows: rows)
    }

    @Test("An answer is kept until its event or one of its rows changes")
    func dropping() {
        let (event, other, row, stranger) = (Self.id(1), Self.id(2), Self.id(3), Self.id(4))
        var kept = KeptAnswers()
        for changed in [[event], [row], [stranger, row]] as [Set<ObjectId>] {
            Self.keep("a", of: event, rows: [row], in: &kept)
            Self.keep("b", of: other, in: &kept)
            kept.drop([stranger])
            #expect(kept.answers(of: event)?.page == "a")
            kept.drop(changed)
            #expect(kept.answers(of: event)?.page == nil, "\(changed)")
            #expect(kept.answers(of: other)?.page == "b")
        }
        kept.dropAll()
        #expect(kept.eventCount == 0)
        #expect(kept.byteCount == 0)
    }

    @Test("An answer isn't kept if something that it shows changes while it is rendered")
    func changesMeanwhile() {
        let (event, row, stranger) = (Self.id(1), Self.id(3), Self.id(4))
        var kept = KeptAnswers()
        Self.keep("a", of: event, rows: [row], changing: [event], in: &kept)
        #expect(kept.answers(of: event)?.page == nil)
        Self.keep("a", of: event, rows: [row], changing: [row], in: &kept)
        #expect(kept.answers(of: event)?.page == nil)
        Self.keep("a", of: event, rows: [row], changing: [stranger], in: &kept)
        #expect(kept.answers(of: event)?.page == "a")
        kept.dropAll()
        // The rules change.
        let work = kept.begin(event)
        kept.dropAll()
        kept.end(work, { $0.page = "a" }, rows: [])
        #expect(kept.answers(of: event)?.page == nil)
        // Too much changes.
        let long = kept.begin(event)
        for number in 0...UInt32(KeptAnswers.changeLimit) { kept.drop([Self.id(1_000 + number)]) }
        kept.end(long, { $0.page = "a" }, rows: [])
        #expect(kept.answers(of: event)?.page == nil)
        let failed = kept.begin(event)
        kept.end(failed, nil, rows: [])
        #expect(kept.eventCount == 0)
    }

    @Test("A row that moved to another event isn't kept there before the first event's answer has been dropped")
    func movedRow() {
        let (event, other, row) = (Self.id(1), Self.id(2), Self.id(3))
        var kept = KeptAnswers()
        Self.keep("a", of: event, rows: [row], in: &kept)
        Self.keep("b", of: other, rows: [row], in: &kept)
        #expect(kept.answers(of: other)?.page == nil)
        kept.drop([row, other])
        #expect(kept.answers(of: event)?.page == nil)
        Self.keep("b", of: other, rows: [row], in: &kept)
        #expect(kept.answers(of: other)?.page == "b")
    }

    @Test("Events and bytes are bounded, and the most recently used answers stay")
    func bounds() {
        var kept = KeptAnswers(eventLimit: 10, byteLimit: 100_000)
        for number in 0..<100 as Range<UInt32> {
            _ = kept.answers(of: Self.id(0))
            Self.keep("page", of: Self.id(number), rows: [Self.id(1_000 + number)], in: &kept)
            #expect(kept.eventCount <= 10)
        }
        #expect(kept.answers(of: Self.id(0))?.page == "page")
        #expect(kept.answers(of: Self.id(99))?.page == "page")
        for number in 0..<10 as Range<UInt32> {
            Self.keep(String(repeating: "x", count: 30_000), of: Self.id(number), in: &kept)
            #expect(kept.byteCount <= 100_000)
        }
        Self.keep(String(repeating: "x", count: 200_000), of: Self.id(200), in: &kept)
        #expect(kept.byteCount <= 100_000)
        for number in 0..<200 as Range<UInt32> { kept.drop([Self.id(number)]) }
        #expect(kept.byteCount == 0)
    }
}
