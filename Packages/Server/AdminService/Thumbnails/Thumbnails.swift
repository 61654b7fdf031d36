import Crypto
package import Foundation
public import Logging
public import ServiceLifecycle
import Synchronization
import TomboloHTTP
package import TomboloModel

/// Makes small versions of images, with a program that an operator installs beside the server.
///
/// It checks no permissions: the caller has the image, so its reader may see it. The cache is separate for each
/// reader, so that response times reveal nothing about what others have looked at.
///
/// As a service, it tests the program first. It makes no thumbnails before that, nor if the program fails the test. A
/// test that says nothing about the program, such as one that timed out, is repeated.
public final class Thumbnails: Service {
    /// The size of a thumbnail.
    package enum Size: String, CaseIterable, Sendable {
        /// For lists.
        case small
        /// For pages of records.
        case large

        /// The side of the square that it fits into, in pixels: twice its size on pages, for high-density screens.
        package var side: Int {
            switch self {
            case .small: 96
            case .large: 768
            }
        }
    }

    /// Images with more bytes get no thumbnail.
    package static let maximumByteCount = 5 << 20
    /// Nor do images with more pixels.
    static let maximumPixelCount = 50_000_000
    /// The most programs that run at a time.
    static let maximumPrograms = 2
    /// Limits for images that wait for a program: their number, their bytes, and their waiting time.
    static let maximumWaiters = 256
    static let maximumWaitingByteCount = 64 << 20
    static let maximumWait = Duration.seconds(10)
    /// The size of the cache.
    static let keptByteCount = 32 << 20
    /// How long to refuse an image after the program timed out or failed, so that it can't be requested in a loop.
    /// Also the pause between two tests of the program.
    static let retryPause = Duration.seconds(60)

    private let program: ThumbnailProgram
    private let logger: Logger
    private let turns: ThumbnailTurns
    private let wait: Duration
    private let pause: Duration
    private let cache = Mutex(ThumbnailCache(byteLimit: keptByteCount))
    private let checked: Mutex<Bool>
    private let now: @Sendable () -> ContinuousClock.Instant

    public convenience init(_ settings: ThumbnailSettings, logger: Logger) {
        self.init(ThumbnailProgram(path: settings.program), logger: logger)
    }

    /// - Parameters:
    ///   - isChecked: whether the program has been tested.
    ///   - wait: ``maximumWait`` except in tests.
    ///   - pause: the pause between tests of the program; ``retryPause`` except in tests.
    init(
        _ program: ThumbnailProgram, isChecked: Bool = false, count: Int = maximumPrograms,
        waiterLimit: Int = maximumWaiters, byteLimit: Int = maximumWaitingByteCount,
        wait: Duration = maximumWait, pause: Duration = retryPause, logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.program = program
        self.logger = logger
        self.wait = wait
        self.pause = pause
        turns = ThumbnailTurns(count: count, waiterLimit: waiterLimit, byteLimit: byteLimit)
        checked = Mutex(isChecked)
        self.now = now
    }

    /// Whether thumbnails are made.
    package var areMade: Bool { checked.withLock { $0 } }

    var waiterCount: Int { turns.waiterCount }

    /// - Parameter reader: the user who asks for it.
    /// - Returns: a WebP image; nil if there's no thumbnail of the image, or none at present.
    /// - Throws: `CancellationError`.
    package func thumbnail(of image: Data, _ size: Size, for reader: ObjectId) async throws -> Data? {
        guard areMade, image.count <= Self.maximumByteCount, let type = ImageType(image) else { return nil }
        let key = Self.key(of: image, size)
        if let known = known(key, reader) { return known.thumbnail }
        guard let pixels = ImageSize(image, type), pixels.pixelCount <= Self.maximumPixelCount else { return nil }
        guard try await hasTurn(holding: image.count, for: reader) else { return nil }
        defer { turns.give() }
        // Another request may have made the same one meanwhile.
        if let known = known(key, reader) { return known.thumbnail }
        let content = try await made(of: image, side: size.side)
        cache.withLock { $0.keep(content, key, for: reader) }
        return content.thumbnail
    }

    private func known(_ key: ThumbnailCache.Key, _ reader: ObjectId) -> ThumbnailCache.Content? {
        cache.withLock { $0.content(key, for: reader, at: now()) }
    }

    private func hasTurn(holding byteCount: Int, for reader: ObjectId) async throws -> Bool {
        do {
            return try await withTimeout(wait) { [turns] in
                try await turns.take(holding: byteCount, for: reader)
            }
        } catch let failure as RequestFailure where failure.code == .timeout {
            return false
        }
    }

    private func made(of image: Data, side: Int) async throws -> ThumbnailCache.Content {
        do {
            switch try await program.thumbnail(of: image, side: side) {
            case .made(let thumbnail): return .thumbnail(thumbnail)
            case .refused: return .refused
            case .late: logger.warning("Gave up on a thumbnail that took longer than \(program.limits.duration).")
            case .failed(let status):
                logger.warning("Can't make a thumbnail: \(program.path) exited with status \(status).")
            }
        } catch let failure as LeashedProgram.StartFailure {
            logger.error("Can't make a thumbnail. \(failure.description)")
        }
        return .failed(until: now() + Self.retryPause)
    }

    private static func key(of image: Data, _ size: Size) -> ThumbnailCache.Key {
        var hash = SHA256()
        hash.update(data: Data(size.rawValue.utf8))
        hash.update(data: image)
        return Array(hash.finalize())
    }

    // MARK: Trying the program

    public func run() async throws {
        try? await cancelWhenGracefulShutdown { try await self.check() }
        try await gracefulShutdown()
    }

    /// Tests the program until it's known whether it can be used.
    func check() async throws {
        var last: Problem?
        while let problem = try await problem() {
            if problem != last { logger.warning("Can't make thumbnails: \(problem.text)") }
            guard problem.mayPass else { return }
            last = problem
            try await Task.sleep(for: pause)
        }
        if last != nil { logger.notice("Thumbnails can be made now.") }
        checked.withLock { $0 = true }
    }

    struct Problem: Hashable, Sendable {
        /// Why the program can't be used, and what to do about it.
        let text: String
        /// Whether another test may succeed.
        let mayPass: Bool
    }

    /// - Returns: nil if the program can be used.
    func problem() async throws -> Problem? {
        let advice = "install libvips 8.13 or newer (Debian: libvips-tools), or set \(ThumbnailSettings.variable)=off."
        func problem(_ outcome: ThumbnailProgram.Outcome, _ text: String) -> Problem {
            let repeated = "Trying again every \(pause)."
            return switch outcome {
            case .late:
                Problem(
                    text: "\(program.path) took longer than \(program.limits.duration) for a small image. \(repeated)",
                    mayPass: true)
            case .failed(let status):
                Problem(
                    text: "\(program.path) exited with status \(status). \(repeated) If that doesn't help, \(advice)",
                    mayPass: true)
            case .made, .refused: Problem(text: "\(program.path) \(text); \(advice)", mayPass: false)
            }
        }
        do {
            let small = try await program.thumbnail(of: Self.gif, side: Size.small.side)
            guard case .made = small else { return problem(small, "can't make a thumbnail of a small image") }
            let untrusted = try await program.thumbnail(of: Self.ppm, side: Size.small.side)
            guard untrusted == .refused else { return problem(untrusted, "reads formats that it was told not to read") }
        } catch let failure as LeashedProgram.StartFailure {
            return Problem(text: failure.description, mayPass: true)
        }
        return nil
    }

    /// One pixel.
    private static let gif = Data(
        Array("GIF89a".utf8) + [
            1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b,
        ])
    /// One pixel in a format for which libvips regards its own loader as unsafe.
    private static let ppm = Data("P5 1 1 255\nx".utf8)
}
