import Foundation

/// A still WebP image with nothing but the picture: no Exif with places and cameras, no XMP, no colour profile. Some
/// versions of libvips write these even when told not to.
///
/// The container (RFC 9649) is `RIFF`, 4 bytes with the length of what follows, `WEBP`, and chunks: 4 bytes name, 4
/// bytes length, the content, and a zero byte if the length is odd. Numbers are little-endian.
enum PlainWebP {
    private static let headerByteCount = 12
    private static let kept: Set<String> = ["VP8X", "VP8 ", "VP8L", "ALPH"]
    /// The bit of `VP8X`'s first byte that says that the image has transparency.
    private static let alphaFlag: UInt8 = 0x10

    /// - Returns: nil for anything but a complete still WebP image.
    static func of(_ bytes: Data) -> Data? {
        let bytes = [UInt8](bytes)
        guard ImageType(bytes) == .webp, number(bytes, at: 4) == bytes.count - 8 else { return nil }
        var chunks: [UInt8] = []
        var hasPicture = false
        var place = headerByteCount
        while place < bytes.count {
            guard let length = number(bytes, at: place + 4) else { return nil }
            let (name, end) = (String(decoding: bytes[place..<(place + 4)], as: UTF8.self), place + 8 + length)
            let next = end + length % 2
            guard next <= bytes.count, name != "ANIM", name != "ANMF" else { return nil }
            if kept.contains(name) {
                var chunk = Array(bytes[place..<next])
                if name == "VP8X" {
                    guard length >= 10 else { return nil }
                    chunk[8] &= alphaFlag
                } else if name != "ALPH" {
                    hasPicture = true
                }
                chunks += chunk
            }
            place = next
        }
        guard hasPicture else { return nil }
        let length = UInt32(chunks.count + 4)
        return Data(
            Array("RIFF".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) } + Array("WEBP".utf8)
                + chunks)
    }

    private static func number(_ bytes: [UInt8], at place: Int) -> Int? {
        guard place + 4 <= bytes.count else { return nil }
        return (0..<4).reversed().reduce(0) { $0 << 8 | Int(bytes[place + $1]) }
    }
}
