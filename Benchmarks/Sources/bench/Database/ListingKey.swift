import TomboloModel

/// The keys of the listings that the measurements create.
enum ListingKey {
    /// The key with this number in its last eight bytes, like `lpad(to_hex(number), 24, '0')` in SQL.
    static func bytes(_ number: Int) -> [UInt8] {
        [0, 0, 0, 0] + withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
    }
}
