import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@testable import AdminService

/// The child process, with the real program and with misbehaving ones.
@Suite struct ThumbnailProgramTests {
    /// Puts its process id in a file name, and never ends.
    private static let hanging = #": > "$0.pid.$$"; exec sleep 1000"#

    private static func made(_ outcome: ThumbnailProgram.Outcome) throws -> Data {
        guard case .made(let thumbnail) = outcome else { throw NotMade(outcome: outcome) }
        return thumbnail
    }

    private struct NotMade: Error { let outcome: ThumbnailProgram.Outcome }

    private static func isGone(_ pid: String) -> Bool { Int32(pid).map { kill($0, 0) != 0 } ?? false }

    @Test("each format becomes a small WebP image and keeps transparency", arguments: ImageType.allCases)
    func formats(type: ImageType) async throws {
        let image =
            switch type {
            case .png: TestImages.png
            case .jpeg: TestImages.jpeg
            case .gif: TestImages.gif
            case .webp: TestImages.webp
            }
        #expect(ImageType(image) == type)
        let thumbnail = try Self.made(try await ThumbnailSite.program().thumbnail(of: image, side: 16))
        #expect(ImageType(thumbnail) == .webp)
        let size = try #require(ImageSize(thumbnail, .webp))
        #expect(type == .jpeg ? (size.width, size.height) == (8, 16) : (size.width, size.height) == (16, 8))
        #expect((thumbnail.range(of: Data("ALPH".utf8)) != nil) == (type != .jpeg))
    }

    @Test("an image is rotated according to its Exif data, and the thumbnail has no locations, cameras or comments")
    func metadata() async throws {
        #expect(TestImages.jpeg.range(of: Data("SECRETMAKER".utf8)) != nil)
        let thumbnail = try Self.made(try await ThumbnailSite.program().thumbnail(of: TestImages.jpeg, side: 96))
        let size = try #require(ImageSize(thumbnail, .webp))
        // Smaller images aren't enlarged.
        #expect((size.width, size.height) == (20, 40))
        for text in ["SECRET", "Exif", "EXIF", "XMP ", "ICCP"] {
            #expect(thumbnail.range(of: Data(text.utf8)) == nil, "\(text)")
        }
    }

    @Test(
        "files that aren't images, and unwanted formats, produce no thumbnail",
        arguments: [
            Data(), Data("hello".utf8), Data("P5 1 1 255\nx".utf8),
            Data("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>".utf8),
            Data("GIF89a, says this text".utf8), TestImages.gif.prefix(20), TestImages.webp.prefix(30),
            Data([0xff, 0xd8, 0xff, 0xe0]),
        ])
    func broken(image: Data) async throws {
        #expect(try await ThumbnailSite.program().thumbnail(of: image, side: 96) == .refused)
    }

    @Test("a decompression bomb is stopped by the time or memory limit")
    func bomb() async throws {
        var program = try ThumbnailSite.program()
        program.limits.cpuSeconds = 1
        let outcome = try await program.thumbnail(of: TestImages.bomb(width: 100_000, height: 100_000), side: 96)
        #expect([.refused, .late, .failed(status: 128 + SIGKILL)].contains(outcome), "\(outcome)")
    }

    @Test("a hanging program is killed, and so is one whose request is cancelled")
    func hanging() async throws {
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(folder, Self.hanging)
            var program = site.program
            program.limits.duration = .seconds(3)
            // More than fits in a pipe, since nobody reads it.
            let image = Data(repeating: 7, count: 1 << 20)
            // On a busy machine, the time may be up before the program has started.
            while try site.seen("pid").isEmpty {
                #expect(try await program.thumbnail(of: image, side: 96) == .late)
                program.limits.duration *= 2
            }
            try #require(try site.seen("pid").count == 1)
            let work = Task { try await site.program.thumbnail(of: image, side: 96) }
            try await site.wait(for: 2, "pid")
            work.cancel()
            await #expect(throws: CancellationError.self) { try await work.value }
            #expect(try site.seen("pid").allSatisfy(Self.isGone))
        }
    }

    @Test("endless output is cut off", arguments: ["exec yes", "while :; do echo x; done"])
    func endless(script: String) async throws {
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(folder, script)
            #expect(try await site.program.thumbnail(of: TestImages.png, side: 96) == .refused)
        }
    }

    @Test(
        "output that isn't a WebP image, or a status other than 0, doesn't count",
        arguments: ["exec cat", "echo '<script>'", "@VIPS@ \"$@\"; exit 1", "exit 0", "exit 255"])
    func answers(script: String) async throws {
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(folder, script)
            #expect(try await site.program.thumbnail(of: TestImages.png, side: 96) == .refused)
        }
    }

    @Test("the program gets none of the server's variables, can't write files, and has limits")
    func limits() async throws {
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(
                folder,
                #"""
                for name in $(env | sed 's/=.*//'); do : > "$0.name.$name"; done
                for limit in c f n t v; do : > "$0.limit.$limit$(ulimit -$limit)"; done
                echo text > "$0.text.made" && : > "$0.written.made"
                """#)
            _ = try await site.program.thumbnail(of: TestImages.png, side: 96)
            // Some are the shell's own.
            #expect(
                try Set(site.seen("name")).subtracting(["PWD", "OLDPWD", "SHLVL", "_"]) == [
                    "LC_ALL", "MALLOC_ARENA_MAX", "VIPSHOME", "VIPS_BLOCK_UNTRUSTED", "VIPS_CONCURRENCY",
                ])
            #expect(try site.seen("limit") == ["c0", "f0", "n32", "t5", "v524288"])
            #expect(try site.seen("written") == [])
        }
    }

    @Test(
        "if a program is killed or its shell fails, that says nothing about the image",
        arguments: [("kill -KILL $$", 137), ("kill -TERM $$", 143), ("exec /nowhere/program", 127), ("exit 2", 2)])
    func failed(script: String, status: Int32) async throws {
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(folder, script)
            #expect(try await site.program.thumbnail(of: TestImages.png, side: 96) == .failed(status: status))
        }
    }

    @Test("the same goes for a program that doesn't exist or isn't executable")
    func missing() async throws {
        for (path, status) in [("/nowhere/vipsthumbnail", Int32(127)), ("/etc/passwd", 126)] {
            let program = ThumbnailSite.patient(path)
            #expect(try await program.thumbnail(of: TestImages.png, side: 96) == .failed(status: status))
        }
    }
}
