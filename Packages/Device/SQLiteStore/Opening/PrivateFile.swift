internal import Foundation
internal import Synchronization

/// Makes device files private to the user whose program creates them, regardless of the umask. SQLite gives the files
/// beside a database the same permissions.
package enum PrivateFile {
    private static let permissions: mode_t = 0o600
    private static let ownersPart: mode_t = 0o700

    /// Guards the creation of files. Closing any descriptor of a file releases all locks that the process has on it
    /// (<https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>),
    /// so a file mustn't be locked before its creator has closed it.
    private static let making = Mutex(())

    /// Call this before opening a file for writing. Creates an empty file if there is none, and removes other users'
    /// permissions from an existing file. Failures show when the file is opened. Another user's file stays unchanged.
    package static func prepare(_ path: String) {
        making.withLock { _ in
            if let descriptor = create(path) { close(descriptor) }
        }
        for suffix in ["", "-wal", "-shm", "-journal"] { restrict(path + suffix) }
    }

    private static func create(_ path: String) -> Int32? {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, permissions)
        guard descriptor >= 0 else { return nil }
        // The umask may have removed the owner's permissions.
        fchmod(descriptor, permissions)
        return descriptor
    }

    private static func restrict(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else { return }
        _ = chmod(path, status.st_mode & ownersPart)
    }

    /// Copies a file's bytes into a new file.
    /// - Throws: an error if the source can't be read, the copy can't be written, or the file already exists.
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

    /// How many bytes are in memory at a time while a file is copied.
    private static let copiedByteCount = 1 << 20
}
