import TomboloModel

/// Keys of the listings that the measurements make.
enum ListingKey {
    /// The key that has this number in its last eight bytes, as `lpad(to_hex(number), 24, '0')` in SQL.
    static func bytes(_ number: Int) -> [UInt8] {
        [0, 0, 0, 0] + withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
    }
}
