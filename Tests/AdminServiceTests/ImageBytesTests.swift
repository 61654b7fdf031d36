import Foundation
import ServiceTestSupport
import Testing

@testable import AdminService

/// Parsers of untrusted bytes.
@Suite struct ImageBytesTests {
    private static let images = [TestImages.png, TestImages.jpeg, TestImages.gif, TestImages.webp]

    @Test(
        "each format's header gives the image size, and a truncated header doesn't give a wrong one", arguments: images)
    func sizes(image: Data) throws {
        let type = try #require(ImageType(image))
        let size = try #require(ImageSize(image, type))
        #expect((size.width, size.height) == (40, 20))
        // A slice's indices don't begin at 0.
        #expect(ImageSize((Data([1, 2, 3]) + image).dropFirst(3), type) == size)
        for count in 0..<min(image.count, 1_000) {
            let found = ImageSize(image.prefix(count), type)
            #expect(found == nil || found == size, "\(count)")
        }
    }

    @Test("WebP frames give their sizes too, and impossible sizes count as none")
    func frames() {
        func webp(_ bytes: [UInt8]) -> ImageSize? {
            ImageSize(Data(Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBP".utf8) + bytes), .webp)
        }
        let lossy = webp(Array("VP8 ".utf8) + [0, 0, 0, 0, 1, 2, 3, 0x9d, 0x01, 0x2a, 0x2c, 0x41, 0x10, 0x80])
        #expect(lossy?.width == 300 && lossy?.height == 16)
        let lossless = webp(Array("VP8L".utf8) + [0, 0, 0, 0, 0x2f, 0xff, 0xff, 0xff, 0x0f])
        #expect(lossless?.width == 16_384 && lossless?.height == 16_384)
        #expect(webp(Array("VP8X".utf8) + [0, 0, 0, 0, 0, 0, 0, 0]) == nil)
        #expect(webp(Array("VP9 ".utf8) + [UInt8](repeating: 1, count: 30)) == nil)
        #expect(ImageSize(TestImages.bomb(width: 0, height: 9), .png) == nil)
        #expect(ImageSize(TestImages.bomb(width: 0xffff_ffff, height: 0xffff_ffff), .png) == nil)
        #expect(ImageSize(TestImages.bomb(width: 100_000, height: 100_000), .png)?.pixelCount == 10_000_000_000)
    }

    @Test("a WebP image keeps only its picture data, and an incomplete one is refused")
    func plain() throws {
        #expect(PlainWebP.of(TestImages.webp) == TestImages.webp)
        let secret = Array("EXIF".utf8) + [3, 0, 0, 0] + Array("GPS".utf8) + [0]
        var full = [UInt8](TestImages.webp) + secret
        full[4] += UInt8(secret.count)
        // The flag for Exif.
        full[20] |= 0x08
        #expect(PlainWebP.of(Data(full)) == TestImages.webp)
        for count in 0..<full.count { #expect(PlainWebP.of(Data(full.prefix(count))) == nil, "\(count)") }
        for image in Self.images.dropLast() { #expect(PlainWebP.of(image) == nil) }
        var long = full
        long[16] = 0xff
        #expect(PlainWebP.of(Data(long)) == nil)
        #expect(PlainWebP.of(Data(Array("RIFF".utf8) + [4, 0, 0, 0] + Array("WEBP".utf8))) == nil)
    }
}
