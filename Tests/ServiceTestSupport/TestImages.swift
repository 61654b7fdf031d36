public import Foundation

/// Small images of 40 by 20 pixels. Their right half is transparent if the format supports it.
public enum TestImages {
    /// Has Exif data that rotates it to the right and names a place and the camera `SECRETMAKER`, as well as XMP (`SECRETXMP`) and
    /// a comment (`SECRETCOMMENT`).
    public static let jpeg = decoded(
        "/9j/4QCsRXhpZgAASUkqAAgAAAADAA8BAgAMAAAAMgAAABIBAwABAAAABgAAACWIBAABAAAAPgAAAAAAAABTRUNSRVRNQUtFUgAE"
            + "AAEAAgACAAAATgAAAAIABQADAAAAdAAAAAMAAgACAAAARQAAAAQABQADAAAAjAAAAAAAAAA2AAAAAQAAABQAAAABAAAAAAAAAAEA"
            + "AAAKAAAAAQAAAAgAAAABAAAAAAAAAAEAAAD/4QBYaHR0cDovL25zLmFkb2JlLmNvbS94YXAvMS4wLwA8eDp4bXBtZXRhIHhtbG5z"
            + "Ong9ImFkb2JlOm5zOm1ldGEvIj5TRUNSRVRYTVA8L3g6eG1wbWV0YT7//gAPU0VDUkVUQ09NTUVOVP/bAEMAFA4PEg8NFBIQEhcV"
            + "FBgeMiEeHBwePSwuJDJJQExLR0BGRVBac2JQVW1WRUZkiGVtd3uBgoFOYI2XjH2Wc36BfP/bAEMBFRcXHhoeOyEhO3xTRlN8fHx8"
            + "fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fP/AABEIABQAKAMBIgACEQEDEQH/xAAfAAABBQEB"
            + "AQEBAQAAAAAAAAAAAQIDBAUGBwgJCgv/xAC1EAACAQMDAgQDBQUEBAAAAX0BAgMABBEFEiExQQYTUWEHInEUMoGRoQgjQrHBFVLR"
            + "8CQzYnKCCQoWFxgZGiUmJygpKjQ1Njc4OTpDREVGR0hJSlNUVVZXWFlaY2RlZmdoaWpzdHV2d3h5eoOEhYaHiImKkpOUlZaXmJma"
            + "oqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4eLj5OXm5+jp6vHy8/T19vf4+fr/xAAfAQADAQEBAQEBAQEBAAAA"
            + "AAAAAQIDBAUGBwgJCgv/xAC1EQACAQIEBAMEBwUEBAABAncAAQIDEQQFITEGEkFRB2FxEyIygQgUQpGhscEJIzNS8BVictEKFiQ0"
            + "4SXxFxgZGiYnKCkqNTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqCg4SFhoeIiYqSk5SVlpeYmZqio6Slpqeo"
            + "qaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2dri4+Tl5ufo6ery8/T19vf4+fr/2gAMAwEAAhEDEQA/AMuJatxLUES1biWpnhT3"
            + "KkjK8QDAtv8AgX9Kxq2/EYwLb/gX9KxKIR5FynkVfjYUUUVRkdPEKtxCiivXmkexUMrxL0tf+B/0rCoorzKvxs8up8TCiiiszM//"
            + "2Q==")
    public static let gif = decoded(
        "R0lGODlhKAAUAIEAAAAAAMg8vsgeQMhcPiH/C05FVFNDQVBFMi4wAwEAAAAh+QQFAAAAACwAAAAAKAAUAAACb5SPI8PNAKOcE1nj"
            + "Mt37HgVmA0dG3reIY0meYCqy7YnBjsy5i33jFB3irXwS2k41JEIMAUHz6RwEpNSpsthkOrfTbu8K4Iq9ZCsY8ExzA2Rp4Ixms53y"
            + "br0Lv+v37Dz/33cGCOg3uFdoeIeYKAdXAAA7")
    public static let webp = decoded(
        "UklGRqYAAABXRUJQVlA4WAoAAAAQAAAAJwAAEwAAQUxQSBQAAAABDzD/ERFCIEA48F9rQEBE/6OEPVZQOCBsAAAAsAQAnQEqKAAU"
            + "AD7tZqdQP6Yjorq8yAPwHYloALUhQVX+QI7gMCeLpCis2/IeAAD+4SfVyQ/S2ZP+UKyp+Ictj4gfu0KoG5cqVrdNz4MjtYGZ/7I1"
            + "9SyLmnHwJc/lLb6KhWdMwTurLyLgl3AA")
    public static let png = png(width: 40, height: 20)

    /// An uncompressed image, with four bytes per pixel.
    public static func png(width: Int, height: Int) -> Data {
        var pixels: [UInt8] = []
        for row in 0..<height {
            pixels.append(0)
            for column in 0..<width {
                pixels += [200, UInt8(truncatingIfNeeded: column * 6), UInt8(truncatingIfNeeded: row * 12)]
                pixels.append(column < width / 2 ? 255 : 0)
            }
        }
        return png(width: width, height: height, data: stored(pixels))
    }

    /// A header that claims these dimensions, followed by a few bytes that don't match them.
    public static func bomb(width: Int, height: Int) -> Data {
        png(width: width, height: height, data: stored([UInt8](repeating: 0, count: 64)))
    }

    private static func png(width: Int, height: Int, data: [UInt8]) -> Data {
        let header = big(width) + big(height) + [8, 6, 0, 0, 0]
        return Data(
            [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunk("IHDR", header) + chunk("IDAT", data)
                + chunk("IEND", []))
    }

    /// A PNG chunk: length, name, content and checksum.
    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + content
        var sum: UInt32 = .max
        for byte in named {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 1 ? 0xedb8_8320 : 0) }
        }
        return big(content.count) + named + big(Int(~sum))
    }

    /// A zlib stream (RFC 1950) of stored, uncompressed blocks.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let limit = Int(UInt16.max)
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: bytes.count, by: limit) {
            let part = bytes[start..<min(start + limit, bytes.count)]
            let (low, high) = (UInt8(part.count & 0xff), UInt8(part.count >> 8))
            stream += [part.endIndex == bytes.count ? 1 : 0, low, high, ~low, ~high] + part
        }
        var (first, second) = (1, 0)
        for byte in bytes {
            first = (first + Int(byte)) % 65_521
            second = (second + first) % 65_521
        }
        return stream + big(second << 16 | first)
    }

    private static func big(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func decoded(_ text: String) -> Data { Data(base64Encoded: text) ?? Data() }
}
