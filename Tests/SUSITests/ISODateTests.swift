import Foundation
import Testing

@testable import SUSI

@Suite struct ISODateTests {
    /// 2026-05-14T13:22:18Z
    private static let moment = 1_778_764_938.0

    @Test(
        "ISO 8601 dates are read",
        arguments: [
            ("2026-05-14T13:22:18Z", moment), ("2026-05-14T13:22:18.473Z", moment + 0.473),
            ("2026-05-14T13:22:18,5Z", moment + 0.5), ("2026-05-14t13:22:18z", moment),
            ("2026-05-14 13:22:18", moment), ("2026-05-14T15:22:18+02:00", moment),
            ("2026-05-14T15:22:18+0200", moment),
            ("2026-05-14T15:22:18+02", moment), ("2026-05-14T07:52:18-05:30", moment), ("20260514T132218Z", moment),
            ("20260514T132218.473Z", moment + 0.473), ("2026-05-14T13:22Z", moment - 18),
            ("2026-05-14", moment - 48_138), ("  2026-05-14T13:22:18Z\n", moment),
            ("2026-05-14T13:22:18.4730000000001Z", moment + 0.473), ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59Z", -1), ("2024-02-29T00:00:00Z", 1_709_164_800), ("2000-02-29", 951_782_400),
            ("2016-12-31T23:59:60Z", 1_483_228_800), ("2016-12-31T24:00:00Z", 1_483_228_800),
            ("0001-01-01T00:00:00Z", -62_135_596_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ])
    func dates(_ text: String, _ expected: Double) throws {
        let date = try #require(ISODate.date(text))
        #expect(abs(date.timeIntervalSince1970 - expected) < 0.000_01)
    }

    @Test(
        "Anything else isn't a date",
        arguments: [
            "", "yesterday", "2026", "2026-05", "2026-13-01", "2026-00-01", "2026-02-30", "2025-02-29", "1900-02-29",
            "2026-0514", "202605-14", "2026-05-14T", "2026-05-14T25:00:00Z", "2026-05-14T24:00:01Z",
            "2026-05-14T13:60Z",
            "2026-05-14T13:22:61Z", "2026-05-14T13:22:18.Z", "2026-05-14T13:22:18+24:00", "2026-05-14T13:22:18Zjunk",
            "2026-05-14T13:22:18 Europe/Berlin", "0000-01-01", "+12026-05-14", "-2026-05-14", "1778764938473",
            "٢٠٢٦-٠٥-١٤",
            "2026-05-14T13:22:18Z\0", String(repeating: "2", count: 1_000_000),
        ])
    func notDates(_ text: String) { #expect(ISODate.date(text) == nil) }

    @Test("Every day from 1600 to 2400 has the right timestamp")
    func everyDay() throws {
        var expected = -11_676_096_000.0
        for year in 1600...2400 {
            for month in 1...12 {
                for day in 1...31 {
                    let text = String(format: "%04d-%02d-%02d", year, month, day)
                    guard let date = ISODate.date(text) else { continue }
                    if date.timeIntervalSince1970 != expected {
                        Issue.record("\(text) is \(date.timeIntervalSince1970), not \(expected)")
                        return
                    }
                    expected += 86_400
                }
            }
        }
        #expect(expected == Double(292_560 * 86_400) - 11_676_096_000)
    }
}
