import Foundation
import TomboloHTTP

/// `vipsthumbnail` as a child process that handles one image. Images come from anybody, and the decoder is written in
/// C. So it gets the image and nothing else, runs under limits, and its output is accepted only if it's a small WebP
/// image.
struct ThumbnailProgram: Sendable {
    /// The result of a run.
    enum Outcome: Hashable, Sendable {
        /// A WebP image without metadata.
        case made(Data)
        /// The program ran, but can't make a thumbnail of this image. It never will.
        case refused
        /// The computer was too slow, or the program hung.
        case late
        /// The program didn't start or was killed, possibly by its CPU time limit, as shells report it. A later
        /// attempt may succeed.
        case failed(status: Int32)
    }

    struct Limits: Sendable {
        /// The limit of the address space.
        var memoryByteCount = 512 << 20
        var cpuSeconds = 5
        var duration = Duration.seconds(15)
        var outputByteCount = 512 << 10
        /// The limit of open files.
        var fileCount = 32
    }

    let path: String
    var limits = Limits()

    /// - Parameters:
    ///   - image: the caller has checked its type.
    ///   - side: the side of the square that the thumbnail fits into, in pixels. Smaller images aren't enlarged.
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
        // The program is gone, so nothing will read what isn't written by now.
        try? input.fileHandleForReading.close()
        _ = try? await sent
        let (status, said) = try outcome.get()
        try Task.checkCancellation()
        // A program whose output is too large is killed for it, so its status doesn't matter.
        guard let said else { return .refused }
        if Self.saysNothingOfImage(status) { return .failed(status: status) }
        guard status == 0, let thumbnail = PlainWebP.of(said) else { return .refused }
        return .made(thumbnail)
    }

    /// Whether a shell failed by itself (dash with 2), couldn't start the program (126 and 127), or reports a signal
    /// (128 and above). `vipsthumbnail` ends with 1 or 255 if it can't read an image.
    private static func saysNothingOfImage(_ status: Int32) -> Bool {
        status == 2 || (126...254).contains(status)
    }

    /// Writing to a program that has already ended must not kill the server.
    private static let ignoresBrokenPipes: Void = { signal(SIGPIPE, SIG_IGN) }()

    /// The image comes on standard error, since standard input is the leash. If one of the limits can't be set,
    /// nothing runs.
    private var script: String {
        """
        ulimit -c 0 && ulimit -f 0 && ulimit -n \(limits.fileCount) && ulimit -t \(limits.cpuSeconds) &&
        ulimit -v \(limits.memoryByteCount >> 10) || exit 126
        exec "$@" <&2 2>/dev/null
        """
    }

    /// The image is rotated according to its Exif data, and its colours are converted to sRGB. No files may be
    /// written: large images stay in memory, and libvips doesn't compile machine code, which would take a file.
    private static func arguments(side: Int) -> [String] {
        [
            "stdin", "--size", "\(side)x\(side)>", "--export-profile", "srgb", "--output", ".webp[Q=80]",
            "--vips-disc-threshold=1g", "--vips-novector",
        ]
    }

    /// Contains nothing of the server's environment. Without a home, libvips loads no modules, which are for other
    /// formats.
    private static let environment = [
        "LC_ALL": "C", "MALLOC_ARENA_MAX": "1", "VIPSHOME": "/nonexistent", "VIPS_BLOCK_UNTRUSTED": "1",
        "VIPS_CONCURRENCY": "1",
    ]

    /// - Returns: nil if there's more than the limit.
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
