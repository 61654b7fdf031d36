import TomboloModel

/// The listings that the latency measurement writes to. A row's price is the number of the commit that set it.
enum LatencyRows {
    /// The number of rows for each device, and of rows that all devices have. Commits rotate through them, so that a
    /// device that lags some commits behind still finds each commit's own value.
    static let rowsPerPlace = 20
    static let sharedPlace = "everywhere"
    /// The first number of these rows.
    static let firstNumber = 1_000_000_000

    static func place(device: Int) -> String { "device \(device)" }

    /// - Parameter device: nil for a row that all devices have.
    static func key(device: Int?, _ row: Int) -> [UInt8] {
        ListingKey.bytes(firstNumber + ((device ?? -1) + 1) * rowsPerPlace + row)
    }

    static func predicate(device: Int) -> Predicate {
        .isIn(PropertyPath("location"), [.string(place(device: device)), .string(sharedPlace)])
    }
}
