internal import Foundation
internal import Synchronization

/// Temporary files that are renamed once they're finished. Each is beside its final file: `path.KIND-PROCESS-UUID`.
package enum UnfinishedFile {
    package enum Kind: String, CaseIterable {
        case copy
        case seed
    }

    /// The names of the files that this process is making. They tell its own files from those of a killed process that
    /// had the same ID.
    private static let made = Mutex<Set<String>>([])

    /// Deletes what killed processes left beside the file, then calls `body` with the path of a new temporary file. If
    /// that file still exists afterwards, it's deleted.
    package static func make<Result>(
        _ kind: Kind, for path: String, _ body: (_ unfinished: String) throws -> Result
    ) rethrows -> Result {
        deleteLeftovers(of: path)
        let ending = ".\(kind.rawValue)-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString)"
        let name = URL(fileURLWithPath: path).lastPathComponent + ending
        made.withLock { _ = $0.insert(name) }
        defer {
            for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + ending + suffix) }
            made.withLock { _ = $0.remove(name) }
        }
        return try body(path + ending)
    }

    /// Deletes what killed processes left beside a file.
    package static func deleteLeftovers(of path: String) {
        let file = URL(fileURLWithPath: path)
        let folder = file.deletingLastPathComponent()
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where isLeftover(name, of: file.lastPathComponent) {
            unlink(folder.appending(path: name).path)
        }
    }

    private static func isLeftover(_ name: String, of file: String) -> Bool {
        for kind in Kind.allCases {
            let start = "\(file).\(kind.rawValue)-"
            guard name.hasPrefix(start) else { continue }
            let parts = name.dropFirst(start.count).split(separator: "-", maxSplits: 1)
            guard parts.count == 2, let process = Int32(parts[0]), process > 0,
                UUID(uuidString: String(parts[1].prefix(36))) != nil
            else { continue }
            guard process == ProcessInfo.processInfo.processIdentifier else {
                return kill(process, 0) != 0 && errno == ESRCH
            }
            return !made.withLock { $0.contains("\(start)\(process)-\(parts[1].prefix(36))") }
        }
        return false
    }
}
