import ArgumentParser
import PostgresClient
import TomboloModel

/// What a light device subscribes to.
enum ScaleWish: String, ExpressibleByArgument, Sendable {
    /// Listings that only this device has.
    case own
    /// Listings that all devices have.
    case shared
}

/// The listings that the scale measurement writes to. A row's price is the number of the commit that set it.
enum ScaleListings {
    /// Commits rotate through these rows, so that a device that lags many commits behind still finds each commit's
    /// own value.
    static let sharedCount = 100
    /// Prices from this number on are commit numbers.
    static let firstCommit = 1_000_000
    /// The first number of each kind of listing.
    static let (firstOwn, firstShared, firstOther) = (2_000_000_000, 3_000_000_000, 4_000_000_000)
    /// Listings that no device wants, apart from those that are written to.
    static let otherCount = 10_000
    static let (sharedPlace, otherPlace) = ("everywhere", "nowhere")

    /// The number of listings of each device, for the same purpose. If there are many devices, each is written to
    /// rarely.
    static func ownCount(deviceCount: Int) -> Int { max(1, 2_000 / deviceCount) }

    /// The device's listing that the commit with this index writes to, with distinct queries. Consecutive commits
    /// don't write to consecutive numbers.
    static func own(_ place: Int, deviceCount: Int) -> Int {
        firstOwn + place * 7_919 % deviceCount + place / deviceCount % ownCount(deviceCount: deviceCount) * deviceCount
    }

    static func ownPlace(_ device: Int) -> String { "device \(device)" }

    static func predicate(_ wish: ScaleWish, device: Int) -> Predicate {
        .compare(PropertyPath("location"), .equal, .string(wish == .own ? ownPlace(device) : sharedPlace))
    }

    /// Whether a device that subscribes to this may receive the listing with this number.
    static func concerns(_ number: Int, _ wish: ScaleWish, device: Int, of deviceCount: Int) -> Bool {
        switch wish {
        case .own: number >= firstOwn && number < firstShared && (number - firstOwn) % deviceCount == device
        case .shared: (firstShared..<firstShared + sharedCount).contains(number)
        }
    }

    static func insert(deviceCount: Int, otherCount: Int = otherCount, _ database: BenchDatabase) async throws {
        try await database.insertListings(otherCount)
        for (first, count, place) in [
            (
                firstOwn, deviceCount * ownCount(deviceCount: deviceCount), "'device ' || (i - $1) % \(deviceCount)"
            ),
            (firstShared, sharedCount, "'\(sharedPlace)'"),
            (firstOther, sharedCount, "'\(otherPlace)'"),
        ] {
            try await database.pool.query(
                """
                INSERT INTO listing (_id, location, price, bedrooms)
                SELECT decode(lpad(to_hex(i), 24, '0'), 'hex'), \(place), 0, 3
                FROM generate_series($1::bigint, $1::bigint + $2::bigint - 1) AS i
                """, [.int64(Int64(first)), .int64(Int64(count))])
        }
        try await database.pool.execute("ANALYZE listing")
    }
}
