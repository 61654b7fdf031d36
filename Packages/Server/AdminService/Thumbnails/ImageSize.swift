import Foundation

/// The width and height in pixels that an image declares, read without decoding it. A false declaration is possible,
/// so the decoder has its own limits.
struct ImageSize: Hashable, Sendable {
    let width: Int
    let height: Int

    var pixelCount: Int { width * height }

    /// - Returns: nil if the bytes don't declare a size, or one without any pixels.
    init?(_ bytes: Data, _ type: ImageType) {
        let header = Header(bytes: bytes)
        let found =
            switch type {
            case .png: header.png
            case .jpeg: header.jpeg
            case .gif: header.gif
            case .webp: header.webp
            }
        guard let found, found.width > 0, found.height > 0 else { return nil }
        (width, height) = found
    }
}

/// Reads the size where each format has it: PNG in the IHDR chunk, GIF in the logical screen descriptor, JPEG in the
/// first frame header (SOFn, ITU-T T.81 B.2.2), WebP in the frame of VP8 or VP8L or in VP8X (RFC 9649).
private struct Header {
    typealias Size = (width: Int, height: Int)

    let bytes: Data

    var png: Size? {
        guard text(at: 12) == "IHDR", let width = big(4, at: 16), let height = big(4, at: 20) else { return nil }
        // Larger values aren't valid, and could overflow.
        guard width <= Int(Int32.max), height <= Int(Int32.max) else { return nil }
        return (width, height)
    }

    var gif: Size? {
        guard let width = little(2, at: 6), let height = little(2, at: 8) else { return nil }
        return (width, height)
    }

    var jpeg: Size? {
        var place = 2
        while let start = byte(place), start == 0xff, let marker = byte(place + 1) {
            switch marker {
            case 0xff:
                // Fill bytes may precede a marker.
                place += 1
            case 0x01, 0xd0...0xd7:
                place += 2
            case 0xc0...0xcf where ![0xc4, 0xc8, 0xcc].contains(marker):
                guard let height = big(2, at: place + 5), let width = big(2, at: place + 7) else { return nil }
                return (width, height)
            case 0xd8...0xda:
                return nil
            default:
                guard let length = big(2, at: place + 2), length >= 2 else { return nil }
                place += 2 + length
            }
        }
        return nil
    }

    var webp: Size? {
        switch text(at: 12) {
        case "VP8X":
            guard let width = little(3, at: 24), let height = little(3, at: 27) else { return nil }
            return (width + 1, height + 1)
        case "VP8L":
            guard byte(20) == 0x2f, let both = little(4, at: 21) else { return nil }
            return ((both & 0x3fff) + 1, (both >> 14 & 0x3fff) + 1)
        case "VP8 ":
            guard big(3, at: 23) == 0x9d012a, let width = little(2, at: 26), let height = little(2, at: 28) else {
                return nil
            }
            return (width & 0x3fff, height & 0x3fff)
        default: return nil
        }
    }

    private func byte(_ place: Int) -> Int? {
        place < bytes.count ? Int(bytes[bytes.startIndex + place]) : nil
    }

    private func big(_ count: Int, at place: Int) -> Int? {
        guard place + count <= bytes.count else { return nil }
        return (0..<count).reduce(0) { $0 << 8 | (byte(place + $1) ?? 0) }
    }

    private func little(_ count: Int, at place: Int) -> Int? {
        guard place + count <= bytes.count else { return nil }
        return (0..<count).reversed().reduce(0) { $0 << 8 | (byte(place + $1) ?? 0) }
    }

    /// Four characters, such as a chunk's name.
    private func text(at place: Int) -> String? {
        guard place + 4 <= bytes.count else { return nil }
        return String(decoding: bytes.dropFirst(place).prefix(4), as: UTF8.self)
    }
}
