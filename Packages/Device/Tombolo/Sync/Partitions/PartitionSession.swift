internal import Dispatch
internal import Synchronization

/// Sessions of partitions end with the last Realm of their file. An app may open one for each conversation that somebody
/// looks at: what isn't looked at shouldn't keep connections and files open.
extension SyncSession {
    /// How long a session goes on for changes that aren't uploaded yet, after its file's last Realm is gone. Later, or
    /// without a connection, they wait in the file for the next time that it's opened.
    static let closingLimit = Duration.seconds(30)

    /// Call when a Realm of the file is gone. Returns at once.
    static func closeIfUnused(path: String) {
        guard let session = known(path: path), !OpenFile.isUsed(path) else { return }
        Task {
            await session.finishUploading()
            // Afterwards it reports nothing, so that no handler of the app waits for what waits for it.
            guard session.suspendIfUnused() else { return }
            await session.settle()
            DispatchQueue.global().async { session.closeIfUnused() }
        }
    }

    private func finishUploading() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await self.waitForUpload() }
            group.addTask { try? await Task.sleep(for: Self.closingLimit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Opening a file counts as a use before it ends the session's suspension: a Realm that isn't seen here resumes the
    /// session afterwards.
    func suspendIfUnused() -> Bool {
        situation.value.withLock { state in
            guard !OpenFile.isUsed(path) else { return false }
            Self.suspend(&state)
            return true
        }
    }

    /// Whoever has opened the file meanwhile goes on with this session.
    func closeIfUnused() {
        try? OpenFile.alone(path) {
            guard Self.known(path: path) === self, !OpenFile.isUsed(path) else { return }
            Self.remove(path: path)?.close()
        }
    }
}
