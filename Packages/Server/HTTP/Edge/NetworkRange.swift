import TomboloAuthentication

/// A network in CIDR notation (RFC 4632), such as `10.0.0.0/8`, or a single address.
struct NetworkRange: Hashable, Sendable {
    private let address: IPAddress
    private let prefixLength: Int

    /// - Returns: nil for text that is neither, and for a network of all addresses.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress($0) }) else { return nil }
        self.address = address
        let bitCount = address.bytes.count * 8
        guard parts.count == 2 else {
            prefixLength = bitCount
            return
        }
        guard let length = Int(parts[1]), (1...bitCount).contains(length) else { return nil }
        prefixLength = length
    }

    func contains(_ other: IPAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        return zip(address.bytes, other.bytes).enumerated().allSatisfy { index, bytes in
            let bitCount = min(8, max(0, prefixLength - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xff00 >> bitCount)
            return bytes.0 & mask == bytes.1 & mask
        }
    }
}
