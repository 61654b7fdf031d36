import Foundation
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

    @Test("Dates of our time survive the way through Date")
    func roundTrip() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<10_000 {
            // 1900 to 2100.
            let value = Int64.random(in: -2_208_988_800_000_000...4_102_444_800_000_000, using: &generator)
            #expect(Date(microsecondsSince1970: value).microsecondsSince1970 == value)
        }
    }

    @Test("Dates beyond every store are clamped, never trapped on")
    func clamping() {
        #expect(Date.distantPast.microsecondsSince1970 == Value.dateRange.lowerBound)
        #expect(Date(timeIntervalSince1970: 1e300).microsecondsSince1970 == Value.dateRange.upperBound)
        #expect(Date(timeIntervalSince1970: -1e300).microsecondsSince1970 == Value.dateRange.lowerBound)
        #expect(Date(timeIntervalSince1970: .infinity).microsecondsSince1970 == Value.dateRange.upperBound)
        #expect(Date(timeIntervalSince1970: .nan).microsecondsSince1970 == 0)
    }

    @Test("The range is that of the years 1 to 9999")
    func range() throws {
        let style = Date.ISO8601FormatStyle()
        #expect(
            try style.parse("9999-12-31T23:59:59Z").timeIntervalSince1970
                == Double(Value.dateRange.upperBound / 1_000_000))
        #expect(Value.dateRange.lowerBound == -62_135_596_800 * 1_000_000)
    }
}
