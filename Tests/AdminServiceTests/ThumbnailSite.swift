import Foundation
import Logging
import TestSupport
import Testing

@testable import AdminService

/// Scripts that replace `vipsthumbnail`. They can't write to files, but can create empty ones beside themselves, whose names tell
/// the test what happened.
struct ThumbnailSite: Sendable {
    let path: String

    /// The program that 'make install' installs.
    static func program() throws -> ThumbnailProgram {
        let settings = try #require(
            try ThumbnailSettings.ofEnvironment(), "vipsthumbnail isn't on the PATH; 'make install' installs it.")
        return patient(settings.program)
    }

    /// The program with a generous time limit, for busy machines.
    static func patient(_ path: String) -> ThumbnailProgram {
        var program = ThumbnailProgram(path: path)
        program.limits.duration = .seconds(3_600)
        return program
    }

    static func thumbnails() throws -> Thumbnails {
        Thumbnails(try program(), isChecked: true, wait: .seconds(3_600), logger: Logger(label: "thumbnails"))
    }

    /// A script that is killed on its first run, and works from then on.
    static let killedOnce = #"""
        [ -e "$0.killed.x" ] || { : > "$0.killed.x"; kill -KILL $$; }
        exec @VIPS@ "$@"
        """#

    /// - Parameters:
    ///   - script: a shell script; `$0` is the program's path, and `@VIPS@` is replaced by the real program's path.
    init(_ folder: URL, _ script: String) throws {
        path = folder.appending(path: "tool").path()
        try ScriptFile.write(script.replacing("@VIPS@", with: try Self.program().path), to: path)
    }

    var program: ThumbnailProgram { Self.patient(path) }

    /// The names of the files of this kind that the script has created, without their prefix.
    func seen(_ kind: String) throws -> [String] {
        let prefix = "tool.\(kind)."
        let folder = URL(filePath: path).deletingLastPathComponent().path()
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix(prefix) }
            .map { String($0.dropFirst(prefix.count)) }.sorted()
    }

    /// Waits until the script has created this many files.
    func wait(for count: Int, _ kind: String) async throws {
        while try seen(kind).count < count { try await Task.sleep(for: .milliseconds(5)) }
    }
}
