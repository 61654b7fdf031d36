import OpenEventImport
import TomboloModel

/// Homes for sale, the same in every run: exactly ``matchingCount`` are in Dallas, cost less than 300,000 and have
/// three bedrooms or more.
enum SampleListings {
    static let matchingCount = 100
    /// In Dallas too, but too dear or too small.
    static let otherDallasCount = 60
    static let elsewhereCount = 140
    private static let places = ["austin", "houston", "fort worth", "el paso", "san antonio"]

    static var rows: [Row] {
        var rows: [Row] = []
        for number in 0..<matchingCount {
            rows.append(row(rows.count, "dallas", 121_000 + number * 1_790, 3 + number % 3))
        }
        for number in 0..<otherDallasCount {
            let isDear = number % 2 == 0
            let price = (isDear ? 300_000 : 99_000) + number * 2_500
            rows.append(row(rows.count, "dallas", price, isDear ? 3 + number % 3 : 1 + number / 2 % 2))
        }
        for number in 0..<elsewhereCount {
            rows.append(row(rows.count, places[number % places.count], 110_000 + number * 2_110, 1 + number % 5))
        }
        return rows
    }

    private static func row(_ number: Int, _ location: String, _ price: Int, _ bedrooms: Int) -> Row {
        var draft = RowDraft("Listing", OpenEventIdentity.id("sample listing \(number)"))
        draft["location"] = .string(location)
        draft["price"] = .int(Int64(price))
        draft["bedrooms"] = .int(Int64(bedrooms))
        return draft.row
    }
}
