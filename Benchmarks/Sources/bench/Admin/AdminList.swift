/// The lists to request: listings at numbered places, with an index on the place.
enum AdminList: String, CaseIterable, Sendable {
    /// The listings from one of ``placeCount`` places on, in the order of places: half of all listings on average.
    /// Simulates people who request the same pages over and over.
    case sorted = "filter and sort by an indexed property"
    case sortedWithTotal = "the same, with the total"
    /// The listings from a random place on, so that hardly any page was requested before.
    case sortedAnew = "filter and sort, each time by another filter"
    case sortedWithNewTotal = "the same, with the total of another filter each time"
    /// A hundredth of all listings, by a property without an index.
    case unindexed = "filter by a property without an index"

    static let pageSize = 30
    /// The number of different filters among repeated requests.
    static let placeCount = 200

    /// The required requests per second at 100,000 rows: three times what PocketBase 0.40 achieves on such a machine.
    var wanted: Double? {
        switch self {
        case .sorted: 9_822
        case .sortedWithTotal: 996
        case .sortedAnew, .sortedWithNewTotal, .unindexed: nil
        }
    }

    /// The number of requests by each of `pgbench`'s connections.
    var rawCount: Int { self == .sorted || self == .sortedAnew ? 1_000 : 50 }

    private static func place(_ number: Int) -> String {
        let digits = String(number)
        return "place%20" + String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// The path of a random page of the list.
    func path(rowCount: Int) -> String {
        let number = Int.random(in: 0..<rowCount)
        let step = max(1, rowCount / Self.placeCount)
        let isAnew = self == .sortedAnew || self == .sortedWithNewTotal
        let first = Self.place(isAnew ? number : number / step * step)
        let page = "sort=location&page%5Bsize%5D=\(Self.pageSize)"
        return switch self {
        case .sorted, .sortedAnew: "/api/listings?filter%5Blocation%5D%5Bge%5D=\(first)&\(page)"
        case .sortedWithTotal, .sortedWithNewTotal:
            "/api/listings?filter%5Blocation%5D%5Bge%5D=\(first)&\(page)&page%5Btotal%5D=true"
        case .unindexed: "/api/listings?filter%5Bbedrooms%5D=\(Int.random(in: 0..<100))&\(page)"
        }
    }

    /// The same for `pgbench`, as SQL.
    func sql(rowCount: Int) -> String {
        let columns = "_id, location, price, bedrooms"
        let list =
            "SELECT \(columns) FROM listing WHERE location >= 'place ' || lpad(:n::text, 8, '0') "
            + "ORDER BY location, _id LIMIT \(Self.pageSize + 1);"
        return switch self {
        case .sorted, .sortedAnew: "\\set n random(0, \(rowCount - 1))\n\(list)\n"
        case .sortedWithTotal, .sortedWithNewTotal:
            "\\set n random(0, \(rowCount - 1))\n\(list)\n"
                + "SELECT count(*) FROM listing WHERE location >= 'place ' || lpad(:n::text, 8, '0');\n"
        case .unindexed:
            "\\set n random(0, 99)\nSELECT \(columns) FROM listing WHERE bedrooms = :n "
                + "ORDER BY location, _id LIMIT \(Self.pageSize + 1);\n"
        }
    }
}
