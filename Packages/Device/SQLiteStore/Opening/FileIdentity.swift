internal import Foundation

/// Tells a file from another one that has the same path later.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    /// Nil if there's no file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
