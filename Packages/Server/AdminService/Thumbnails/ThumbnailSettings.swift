public import Foundation
public import TomboloHTTP

/// The program that makes an admin server's thumbnails, read from the environment.
public struct ThumbnailSettings: Hashable, Sendable {
    /// The path of libvips's `vipsthumbnail`.
    public let program: String

    public static let variable = "TOMBOLO_THUMBNAILS"
    private static let name = "vipsthumbnail"
    private static let off = "off"

    public init(program: String) { self.program = program }

    /// - Returns: nil if thumbnails are turned off, or the `PATH` has no program for them.
    /// - Throws: ``ConfigurationError``.
    public static func ofEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> ThumbnailSettings? {
        guard let text = environment[variable], !text.isEmpty else {
            return find(environment["PATH"]).map { ThumbnailSettings(program: $0) }
        }
        if text == off { return nil }
        guard text.hasPrefix("/"), isProgram(text) else {
            throw ConfigurationError(problems: [
                "\(variable) is '\(text)', which isn't a program: give the absolute path of \(name) (Debian: "
                    + "libvips-tools), or \(off)."
            ])
        }
        return ThumbnailSettings(program: text)
    }

    private static func find(_ path: String?) -> String? {
        (path ?? "/usr/bin:/bin").split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
            .first(where: isProgram)
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }
}
