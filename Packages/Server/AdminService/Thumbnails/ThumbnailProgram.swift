import Foundation
import TomboloHTTP

/// `vipsthumbnail` as a child process that lives for one image. Images come from anybody, and what decodes them is C: it gets
/// the image and nothing else, has limits, and what it answers is believed only as far as it's a small WebP image.
struct ThumbnailProgram: Sendable {
    /// How it ended.
    enum Outcome: Hashable, Sendable {
        /// A WebP image, without metadata.
        case made(Data)
        /// It ran, and can't make one of this image. It never will.
        case refused
        /// The computer was too slow, or the program hangs.
        case late
        /// It didn't start or was killed, by its limit of processor time too, as shells report it. Another time it may do better.
        case failed(status: Int32)
    }

    struct Limits: Sendable {
        /// Of the address space.
        var memoryByteCount = 512 << 20
        var cpuSeconds = 5
        var duration = Duration.seconds(15)
        var outputByteCount = 512 << 10
        /// Of open files.
        var fileCount = 32
    }

    let path: String
    var limits = Limits()

    /// - Parameters:
    ///   - image: the caller has looked what type it is.
    ///   - side: pixels of the square that the thumbnail fits into. Smaller images stay as small as they are.
    /// - Throws: ``LeashedProgram/StartFailure``, or `CancellationError`.
    func thumbnail(of image: Data, side: Int) async throws -> Outcome {
        do {
            return try await withTimeout(limits.duration) { try await run(image, side: side) }
        } catch let failure as RequestFailure where failure.code == .timeout {
            return .late
        }
    }

    private func run(_ image: Data, side: Int) async throws -> Outcome {
        _ = Self.ignoresBrokenPipes
        let input = Pipe()
        async let sent: Void = DiskQueue().run {
            try? input.fileHandleForWriting.write(contentsOf: image)
            try? input.fileHandleForWriting.close()
        }
        let program = LeashedProgram(
            name: "vipsthumbnail",
            words: ["/bin/sh", "-c", script, "vipsthumbnail", path] + Self.arguments(side: side),
            environment: Self.environment)
        let outcome: Result<(status: Int32, said: Data?), any Error>
        do {
            outcome = .success(
                try await program.run(reading: .output, other: input.fileHandleForReading) {
                    [limit = limits.outputByteCount] in Self.all(of: $0, limit: limit)
                })
        } catch {
            outcome = .failure(error)
        }
        // What isn't written by now finds nobody to read it.
        try? input.fileHandleForReading.close()
        _ = try? await sent
        let (status, said) = try outcome.get()
        try Task.checkCancellation()
        // A program that says too much is ended for it, whatever its status is then.
        guard let said else { return .refused }
        if Self.saysNothingOfImage(status) { return .failed(status: status) }
        guard status == 0, let thumbnail = PlainWebP.of(said) else { return .refused }
        return .made(thumbnail)
    }

    /// Whether a shell ended by itself (dash with 2), couldn't start the program (126 and 127), or reports a signal (128 and
    /// more). `vipsthumbnail` ends with 1 or 255 if it can't read an image.
    private static func saysNothingOfImage(_ status: Int32) -> Bool {
        status == 2 || (126...254).contains(status)
    }

    /// A program that ends before it has read everything must not end the server.
    private static let ignoresBrokenPipes: Void = { signal(SIGPIPE, SIG_IGN) }()

    /// The image comes as standard error, for standard input is the leash. Where one of the limits can't be set, nothing runs.
    private var script: String {
        """
        ulimit -c 0 && ulimit -f 0 && ulimit -n \(limits.fileCount) && ulimit -t \(limits.cpuSeconds) &&
        ulimit -v \(limits.memoryByteCount >> 10) || exit 126
        exec "$@" <&2 2>/dev/null
        """
    }

    /// The image is turned as its Exif says, and its colours become sRGB's. Nothing may be written to files: large images stay in
    /// memory, and libvips makes no machine code of its own, for which it would need one.
    private static func arguments(side: Int) -> [String] {
        [
            "stdin", "--size", "\(side)x\(side)>", "--export-profile", "srgb", "--output", ".webp[Q=80]",
            "--vips-disc-threshold=1g", "--vips-novector",
        ]
    }

    /// Nothing of the server's own. Without a home libvips loads no modules, which are for other formats.
    private static let environment = [
        "LC_ALL": "C", "MALLOC_ARENA_MAX": "1", "VIPSHOME": "/nonexistent", "VIPS_BLOCK_UNTRUSTED": "1",
        "VIPS_CONCURRENCY": "1",
    ]

    /// - Returns: nil if it's more than the limit.
    private static func all(of handle: FileHandle, limit: Int) -> Data? {
        defer { try? handle.close() }
        var all = Data()
        while all.count <= limit {
            do {
                guard let part = try handle.read(upToCount: limit + 1 - all.count), !part.isEmpty else { return all }
                all += part
            } catch {
                return nil
            }
        }
        return nil
    }
}
