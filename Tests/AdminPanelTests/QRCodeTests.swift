import Crypto
import Testing

@testable import AdminPanel

/// Compares with codes from PyPI's package `qrcode` 8.2, made with error correction M and the same mask.
@Suite struct QRCodeTests {
    private static func rows(_ code: QRCode) -> [String] {
        (0..<code.size).map { row in (0..<code.size).map { code[row, $0] ? "#" : "." }.joined() }
    }

    @Test("a short text makes a version 1 code, module by module")
    func small() throws {
        let expected = """
            #######.#.....#######
            #.....#.#.....#.....#
            #.###.#..#.#..#.###.#
            #.###.#.#.#.#.#.###.#
            #.###.#..###..#.###.#
            #.....#..####.#.....#
            #######.#.#.#.#######
            ........#####........
            #.##.###.#.##.#..#.##
            ###.#..#..#####..##.#
            ##.####.##.#.......##
            ##.#.#...###..####.#.
            .#.#..####..#..#....#
            ........#.##..#...#..
            #######.#.###..#.....
            #.....#.#.#....#####.
            #.###.#.....#########
            #.###.#.#.##..#.####.
            #.###.#.#...#.##..#..
            #.....#......#.##...#
            #######.###..#.#..#..
            """
        #expect(Self.rows(try #require(QRCode("hello", mask: 3))).joined(separator: "\n") == expected)
    }

    @Test(
        "every version and every mask gives the known code",
        arguments: [
            (1, 14, 0, "b4d5eb263de30f0434fd579b5e6db3daa0bb8e4ca728cfe98d4aed6f3d6d0fa7"),
            (2, 25, 1, "4f1398a73674af54f395ae93a0ce36ff7d3c7deece4f60aaaf455a35a8e16c7e"),
            (3, 40, 2, "89cc3a89b8493a77c336264497af9145ada8036a957b400675932af8489673dd"),
            (4, 62, 3, "3f68af2020f934708e053936a89f5e7cd38e4f71af00bf64507c2e2f488ed0ad"),
            (5, 83, 4, "d7bc64e71dcdebc05180e935a9c48dd21c4e2de37ab07d9caff618f9406a2ee7"),
            (6, 104, 5, "ddea9ab25aac2ecc4c6284f67e43644905d639b704032862c1fbd91fd12e0785"),
            (7, 122, 6, "3f200a59823e55e55c334639b3ce046e27eea494c2968b701b8b14ead20e7131"),
            (8, 151, 7, "d2b852f6fade1a2801280bf84821ce271a40413e023bcf7de68632817de8c0b1"),
            (9, 178, 0, "8f6c6f6e2660cb3041380ef49c015d4fe15b7d08b98dc28f7d205bc3c6f40da4"),
            (10, 213, 1, "db85023d55b70933abc6f054276e0f226442de92aad67d6b4cdfa3698738bd09"),
        ])
    func versions(version: Int, length: Int, mask: Int, hash: String) throws {
        let base = "otpauth://totp/Tombolo:ann%40example.org?secret=JBSWY3DPEHPK3PXP&issuer=Tombolo/"
        let text = String(String(repeating: base, count: 4).prefix(length))
        let code = try #require(QRCode(text, mask: mask))
        #expect(code.size == 17 + 4 * version)
        let found = SHA256.hash(data: Array(Self.rows(code).joined(separator: "\n").utf8))
        #expect(found.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == hash)
    }

    @Test("without a given mask, the most readable one is chosen, and a text that is too long has no code")
    func choice() throws {
        let masks = try (0..<8).map { try #require(QRCode("otpauth://totp/x", mask: $0)) }
        let chosen = try #require(QRCode("otpauth://totp/x"))
        let least = try #require(masks.map(QRPenalty.of).min())
        #expect(QRPenalty.of(chosen) == least && masks.contains { Self.rows($0) == Self.rows(chosen) })
        #expect(QRCode(String(repeating: "x", count: 213)) != nil)
        #expect(QRCode(String(repeating: "x", count: 214)) == nil)
    }

    @Test("the image has a rectangle for each run of dark modules, inside a quiet zone")
    func picture() throws {
        let code = try #require(QRCode("hello", mask: 3))
        #expect(code.side == 29)
        #expect(code.path.hasPrefix("M4 4h7v1h-7zM12 4h1v1h-1zM18 4h7v1h-7z"))
        let widths = code.path.matches(of: /h(\d+)v1/).compactMap { Int($0.1) }
        #expect(widths.reduce(0, +) == code.modules.count { $0 })
    }
}
