import Foundation
import Logging
import TestSupport
import Testing

@testable import AdminService

/// Programs in place of `vipsthumbnail`. They may write no file, but can make empty ones beside themselves, which say by their
/// names what was seen.
struct ThumbnailSite: Sendable {
    let path: String

    /// What 'make install' puts on the machine.
    static func program() throws -> ThumbnailProgram {
        let settings = try #require(
            try ThumbnailSettings.ofEnvironment(), "vipsthumbnail isn't on the PATH; 'make install' installs it.")
        return patient(settings.program)
    }

    /// One that may take its time, on a machine that is as busy as it likes.
    static func patient(_ path: String) -> ThumbnailProgram {
        var program = ThumbnailProgram(path: path)
        program.limits.duration = .seconds(3_600)
        return program
    }

    static func thumbnails() throws -> Thumbnails {
        Thumbnails(try program(), isChecked: true, wait: .seconds(3_600), logger: Logger(label: "thumbnails"))
    }

    /// A script that is killed when it first runs, and does what it should from then on.
    static let killedOnce = #"""
        [ -e "$0.killed.x" ] || { : > "$0.killed.x"; kill -KILL $$; }
        exec @VIPS@ "$@"
        """#

    /// - Parameters:
    ///   - script: of a shell; `$0` is the program's path, and `@VIPS@` in it the real program.
    init(_ folder: URL, _ script: String) throws {
        path = folder.appending(path: "tool").path()
        try ScriptFile.write(script.replacing("@VIPS@", with: try Self.program().path), to: path)
    }

    var program: ThumbnailProgram { Self.patient(path) }

    /// The names of the files that it has made, without its own.
    func seen(_ kind: String) throws -> [String] {
        let prefix = "tool.\(kind)."
        let folder = URL(filePath: path).deletingLastPathComponent().path()
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix(prefix) }
            .map { String($0.dropFirst(prefix.count)) }.sorted()
    }

    /// Waits until it has made so many.
    func wait(for count: Int, _ kind: String) async throws {
        while try seen(kind).count < count { try await Task.sleep(for: .milliseconds(5)) }
    }
}
