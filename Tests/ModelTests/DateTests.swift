import Foundation
import RandomValues
import Testing
import TomboloModel

@Suite("Dates")
struct DateTests {
    @Test(
        "A date is rounded to the nearest microsecond",
        arguments: [
            (0.0, 0), (0.000_000_4, 0), (0.000_000_6, 1), (-0.000_000_6, -1), (1.5, 1_500_000),
            (1_700_000_000.123_456, 1_700_000_000_123_456),
        ] as [(Double, Int64)])
    func rounding(seconds: Double, microseconds: Int64) {
        #expect(Date(timeIntervalSince1970: seconds).microsecondsSince1970 == microseconds)
    }

    @Test("Present-day dates survive a round trip through Date")
    func roundTrip() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<10_000 {
            // The years 1730 to 2270.
            let value = Int64.random(in: -7_573_651_200_000_000...9_467_020_800_000_000, using: &generator)
            #expect(Date(microsecondsSince1970: value).microsecondsSince1970 == value)
        }
    }

    @Test("Reading a date and writing it back never moves it, in any year")
    func idempotent() {
        var generator = SeededGenerator(seed: 5)
        let edges = [Value.dateRange.lowerBound, Value.dateRange.upperBound]
        for value in edges + (0..<10_000).map({ _ in Int64.random(in: Value.dateRange, using: &generator) }) {
            let read = Date(microsecondsSince1970: value)
            let again = Date(microsecondsSince1970: read.microsecondsSince1970)
            #expect(again == read || read.microsecondsSince1970 == Value.dateRange.upperBound)
            #expect(again.microsecondsSince1970 == read.microsecondsSince1970)
        }
    }

    @Test("Dates that no store can hold are clamped, never trapped on")
    func clamping() {
        #expect(Date.distantPast.microsecondsSince1970 == Value.dateRange.lowerBound)
        #expect(Date(timeIntervalSince1970: 1e300).microsecondsSince1970 == Value.dateRange.upperBound)
        #expect(Date(timeIntervalSince1970: -1e300).microsecondsSince1970 == Value.dateRange.lowerBound)
        #expect(Date(timeIntervalSince1970: .infinity).microsecondsSince1970 == Value.dateRange.upperBound)
        #expect(Date(timeIntervalSince1970: .nan).microsecondsSince1970 == 0)
        #expect(Date(microsecondsSince1970: .max).microsecondsSince1970 == Value.dateRange.upperBound)
        #expect(Date(microsecondsSince1970: .min).microsecondsSince1970 == Value.dateRange.lowerBound)
    }

    @Test("The range is the years 1 to 9999")
    func range() throws {
        let style = Date.ISO8601FormatStyle()
        #expect(
            try style.parse("9999-12-31T23:59:59Z").timeIntervalSince1970
                == Double(Value.dateRange.upperBound / 1_000_000))
        #expect(Value.dateRange.lowerBound == -62_135_596_800 * 1_000_000)
    }
}
