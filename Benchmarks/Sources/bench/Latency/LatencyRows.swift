import TomboloModel

/// The listings that the latency measurement writes to. The price of a row is the number of the commit that set it.
enum LatencyRows {
    /// Rows for each device, and rows that all devices have; written to in turn, so that a device that is some commits
    /// late still finds each commit's own value.
    static let rowsPerPlace = 20
    static let sharedPlace = "everywhere"
    /// Where the numbers of these rows begin.
    static let firstNumber = 1_000_000_000

    static func place(device: Int) -> String { "device \(device)" }

    /// - Parameter device: nil for a row of all.
    static func key(device: Int?, _ row: Int) -> [UInt8] {
        ListingKey.bytes(firstNumber + ((device ?? -1) + 1) * rowsPerPlace + row)
    }

    static func predicate(device: Int) -> Predicate {
        .isIn(PropertyPath("location"), [.string(place(device: device)), .string(sharedPlace)])
    }
}
