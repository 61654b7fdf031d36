import TomboloLocalization

/// File sizes in words: `596 KiB`, `1.2 GiB`.
package enum ByteSize {
    private static let units = ["KiB", "MiB", "GiB", "TiB"]

    package static func text(_ byteCount: Int64) -> String {
        guard byteCount >= 1_024 else { return localized("\(byteCount) bytes") }
        var (size, place) = (Double(byteCount) / 1_024, 0)
        while size >= 1_024, place < units.count - 1 {
            size /= 1_024
            place += 1
        }
        let tenths = (size * 10).rounded()
        return "\(tenths < 100 ? "\(tenths / 10)" : "\(Int64(size.rounded()))") \(units[place])"
    }
}
