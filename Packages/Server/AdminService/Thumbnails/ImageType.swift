/// Image formats that browsers show and that can't contain scripts, detected by their first bytes. Nothing else is
/// ever shown as an image, whatever its name.
package enum ImageType: String, CaseIterable, Sendable {
    case png, jpeg, gif, webp

    package init?(_ bytes: some Collection<UInt8>) {
        let start = Array(bytes.prefix(12))
        func begins(_ signature: [UInt8], at place: Int = 0) -> Bool {
            start.count >= place + signature.count && Array(start[place..<(place + signature.count)]) == signature
        }
        if begins([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
            self = .png
        } else if begins([0xff, 0xd8, 0xff]) {
            self = .jpeg
        } else if begins(Array("GIF87a".utf8)) || begins(Array("GIF89a".utf8)) {
            self = .gif
        } else if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) {
            self = .webp
        } else {
            return nil
        }
    }

    package var mediaType: String { "image/\(rawValue)" }
}
