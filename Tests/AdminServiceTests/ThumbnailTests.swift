import Foundation
import Logging
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing
import TomboloModel

@testable import AdminService

/// What is refused without running a program, what is made once, what is retried, and how many programs run.
@Suite struct ThumbnailTests {
    private static let logger = Logger(label: "thumbnails")
    /// Counts its runs.
    private static let counting = #": > "$0.run.$$"; exec @VIPS@ "$@""#

    private static func thumbnails(_ site: ThumbnailSite) -> Thumbnails {
        Thumbnails(site.program, isChecked: true, wait: .seconds(3_600), logger: logger)
    }

    @Test("bombs, files that are too large, and files that aren't images don't reach the program")
    func refused() async throws {
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(folder, Self.counting)
            let thumbnails = Self.thumbnails(site)
            let reader = ObjectId.generate()
            for image in [
                TestImages.bomb(width: 100_000, height: 100_000), TestImages.bomb(width: 50_000_001, height: 1),
                TestImages.png + Data(count: Thumbnails.maximumByteCount), Data("GIF89a".utf8),
                Data("P5 1 1 255\nx".utf8), Data("<svg/>".utf8), Data(),
            ] {
                #expect(try await thumbnails.thumbnail(of: image, .small, for: reader) == nil)
            }
            #expect(try site.seen("run") == [])
            #expect(try await thumbnails.thumbnail(of: TestImages.png, .small, for: reader) != nil)
        }
    }

    @Test("a thumbnail is made once per reader and size, and an image without one is tried once")
    func kept() async throws {
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(folder, Self.counting)
            let thumbnails = Self.thumbnails(site)
            let (one, other) = (ObjectId.generate(), ObjectId.generate())
            let first = try await thumbnails.thumbnail(of: TestImages.png, .small, for: one)
            #expect(first != nil)
            #expect(try await thumbnails.thumbnail(of: TestImages.png, .small, for: one) == first)
            #expect(try site.seen("run").count == 1)
            // Otherwise the response time would reveal that somebody else has seen the same image.
            #expect(try await thumbnails.thumbnail(of: TestImages.png, .small, for: other) == first)
            #expect(try site.seen("run").count == 2)
            #expect(try await thumbnails.thumbnail(of: TestImages.png, .large, for: one) != nil)
            #expect(try site.seen("run").count == 3)
            let broken = TestImages.gif.prefix(20)
            for _ in 0..<2 { #expect(try await thumbnails.thumbnail(of: broken, .small, for: one) == nil) }
            #expect(try site.seen("run").count == 4)
        }
    }

    @Test("if the program was killed, it's tried again after a pause, and not before")
    func failed() async throws {
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(folder, #": > "$0.run.$$""# + "\n" + ThumbnailSite.killedOnce)
            let time = Mutex(ContinuousClock.now)
            let thumbnails = Thumbnails(
                site.program, isChecked: true, logger: Self.logger, now: { time.withLock { $0 } })
            let reader = ObjectId.generate()
            for _ in 0..<2 { #expect(try await thumbnails.thumbnail(of: TestImages.png, .small, for: reader) == nil) }
            #expect(try site.seen("run").count == 1)
            time.withLock { $0 += Thumbnails.retryPause - .nanoseconds(1) }
            #expect(try await thumbnails.thumbnail(of: TestImages.png, .small, for: reader) == nil)
            #expect(try site.seen("run").count == 1)
            time.withLock { $0 += .nanoseconds(1) }
            for _ in 0..<2 { #expect(try await thumbnails.thumbnail(of: TestImages.png, .small, for: reader) != nil) }
            #expect(try site.seen("run").count == 2)
        }
    }

    @Test("an image that times out is retried once per pause, and one that can't be read is never retried")
    func late() async throws {
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(folder, #": > "$0.run.$$"; exec sleep 1000"#)
            var program = site.program
            program.limits.duration = .seconds(3)
            let time = Mutex(ContinuousClock.now)
            let thumbnails = Thumbnails(program, isChecked: true, logger: Self.logger, now: { time.withLock { $0 } })
            let reader = ObjectId.generate()
            for _ in 0..<3 { #expect(try await thumbnails.thumbnail(of: TestImages.png, .small, for: reader) == nil) }
            #expect(try site.seen("run").count <= 1)
        }
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(folder, Self.counting)
            let time = Mutex(ContinuousClock.now)
            let thumbnails = Thumbnails(
                site.program, isChecked: true, logger: Self.logger, now: { time.withLock { $0 } })
            let reader = ObjectId.generate()
            for _ in 0..<3 {
                #expect(try await thumbnails.thumbnail(of: TestImages.gif.prefix(20), .small, for: reader) == nil)
                time.withLock { $0 += Thumbnails.retryPause }
            }
            #expect(try site.seen("run").count == 1)
        }
    }

    @Test("programs and waiting images are limited in number; beyond that, an image gets no thumbnail, immediately")
    func concurrency() async throws {
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(folder, #": > "$0.run.$$"; exec sleep 1000"#)
            let thumbnails = Thumbnails(
                site.program, isChecked: true, count: 2, waiterLimit: 3, wait: .seconds(3_600), logger: Self.logger)
            let tasks = (1...5).map { side in
                Task {
                    try await thumbnails.thumbnail(
                        of: TestImages.bomb(width: side, height: side), .small, for: .generate())
                }
            }
            while thumbnails.waiterCount < 3 { try await Task.sleep(for: .milliseconds(5)) }
            try await site.wait(for: 2, "run")
            #expect(try await thumbnails.thumbnail(of: TestImages.png, .small, for: .generate()) == nil)
            #expect(try site.seen("run").count == 2)
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
            #expect(thumbnails.waiterCount == 0)
        }
    }

    @Test("waiting images are limited in bytes, also per reader, and turns go in order of arrival")
    func turns() async throws {
        let turns = ThumbnailTurns(count: 1, waiterLimit: 10, byteLimit: 100)
        let readers = (0..<5).map { _ in ObjectId.generate() }
        #expect(try await turns.take(holding: 1_000, for: readers[0]))
        var waiting: [Task<Bool, any Error>] = []
        for reader in readers.prefix(4) {
            waiting.append(Task { try await turns.take(holding: 25, for: reader) })
            while turns.waiterCount < waiting.count { try await Task.sleep(for: .milliseconds(1)) }
            #expect(try await !turns.take(holding: 1, for: reader), "one reader may have a quarter")
        }
        #expect(try await !turns.take(holding: 1, for: readers[4]))
        turns.give()
        #expect(try await waiting[0].value)
        for task in waiting.dropFirst() { task.cancel() }
        for task in waiting.dropFirst() {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        turns.give()
        #expect(try await turns.take(holding: 0, for: readers[4]))
    }

    @Test("a program is accepted only if it makes a thumbnail and refuses formats that libvips doesn't trust")
    func trying() async throws {
        #expect(try await ThumbnailSite.thumbnails().problem() == nil)
        try await withTemporaryFolder { folder in
            for (script, words) in [
                ("exit 1", "can't make a thumbnail of a small image"),
                (#"unset VIPS_BLOCK_UNTRUSTED; exec @VIPS@ "$@""#, "reads formats that it was told not to"),
            ] {
                let problem = try await Self.thumbnails(try ThumbnailSite(folder, script)).problem()
                #expect(
                    problem?.text.contains(words) == true && problem?.mayPass == false, "\(problem?.text ?? "none")")
            }
        }
        let untried = Thumbnails(try ThumbnailSite.program(), logger: Self.logger)
        #expect(try await untried.thumbnail(of: TestImages.png, .small, for: .generate()) == nil)
    }

    @Test("an inconclusive trial of the program is repeated, and one that shows it can't be used isn't")
    func tryingAgain() async throws {
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(folder, ThumbnailSite.killedOnce)
            let thumbnails = Thumbnails(site.program, pause: .milliseconds(1), logger: Self.logger)
            try await thumbnails.check()
            #expect(try thumbnails.areMade && site.seen("killed") == ["x"])
        }
        try await withTemporaryFolder { folder in
            let site = try ThumbnailSite(folder, "exit 1")
            let thumbnails = Thumbnails(site.program, pause: .milliseconds(1), logger: Self.logger)
            try await thumbnails.check()
            #expect(!thumbnails.areMade)
        }
    }

    @Test("the variable names a program or is off; without it, the one on the PATH is used")
    func settings() throws {
        #expect(try ThumbnailSettings.ofEnvironment(["TOMBOLO_THUMBNAILS": "off", "PATH": "/usr/bin"]) == nil)
        #expect(try ThumbnailSettings.ofEnvironment(["TOMBOLO_THUMBNAILS": "", "PATH": "/nowhere"]) == nil)
        let named = try ThumbnailSettings.ofEnvironment(["TOMBOLO_THUMBNAILS": "/bin/sh", "PATH": "/nowhere"])
        #expect(named?.program == "/bin/sh")
        for wrong in ["/nowhere/vipsthumbnail", "vipsthumbnail", "/", "on"] {
            #expect {
                try ThumbnailSettings.ofEnvironment(["TOMBOLO_THUMBNAILS": wrong])
            } throws: {
                "\($0)".contains("TOMBOLO_THUMBNAILS is '\(wrong)'")
            }
        }
    }
}
