import Foundation
import ListingModels
import Synchronization
import Tombolo

/// A file with a line for each call of a client reset's blocks. The process can be told to die in one of them.
final class ResetLog: Sendable {
    private let file: URL
    private let deadly = Mutex("")

    init(file: URL) { self.file = file }

    func die(in block: String) { deadly.withLock { $0 = block } }

    /// Writes the block's name and the number of pending listings in each of its Realms.
    func note(_ block: String, _ realms: Realm...) {
        let counts = realms.map { String($0.objects(Listing.self).where { $0.location == "pending" }.count) }
        let line = ([block] + counts).joined(separator: " ") + "\n"
        let handle = open(file.path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        _ = line.withCString { write(handle, $0, strlen($0)) }
        close(handle)
        if deadly.withLock({ $0 == block }) { kill(getpid(), SIGKILL) }
    }
}
