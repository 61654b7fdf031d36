internal import Foundation
internal import Synchronization

/// Device files are for the user whose program makes them and for nobody else, whatever the umask says. SQLite gives the
/// files that it makes beside one the permissions of that one.
package enum PrivateFile {
    private static let permissions: mode_t = 0o600
    private static let ownersPart: mode_t = 0o700

    /// Guards the making of files: closing any descriptor of a file lets go of all locks that the process has on it
    /// (<https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>), so
    /// that nobody may lock a file before who made it has closed it.
    private static let making = Mutex(())

    /// Before a file is opened for writing: makes an empty one where there is none, and takes from others what they may
    /// do with an existing one. Failures show when the file is opened. A file of another user stays as it is.
    package static func prepare(_ path: String) {
        making.withLock { _ in
            if let descriptor = create(path) { close(descriptor) }
        }
        for suffix in ["", "-wal", "-shm", "-journal"] { restrict(path + suffix) }
    }

    private static func create(_ path: String) -> Int32? {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, permissions)
        guard descriptor >= 0 else { return nil }
        // A umask may have taken the owner's.
        fchmod(descriptor, permissions)
        return descriptor
    }

    private static func restrict(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else { return }
        _ = chmod(path, status.st_mode & ownersPart)
    }

    /// Copies a file's bytes into a new one.
    /// - Throws: where the source cannot be read, the copy cannot be written, or there is a file.
    package static func copy(_ source: String, to path: String) throws {
        let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: source))
        defer { try? input.close() }
        guard let descriptor = create(path) else {
            throw CocoaError(errno == EEXIST ? .fileWriteFileExists : .fileWriteUnknown)
        }
        let output = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        while let bytes = try input.read(upToCount: copiedByteCount), !bytes.isEmpty {
            try output.write(contentsOf: bytes)
        }
        try output.close()
    }

    /// How much of a file is in memory while it is copied.
    private static let copiedByteCount = 1 << 20
}
