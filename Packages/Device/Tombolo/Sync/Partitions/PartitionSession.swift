internal import Dispatch

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
            guard !OpenFile.isUsed(path) else { return }
            // Afterwards it reports nothing, so that no handler of the app waits for what waits for it.
            await session.suspendAndWait()
            DispatchQueue.global().async { session.closeIfUnused(path) }
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

    private func closeIfUnused(_ path: String) {
        try? OpenFile.alone(path) {
            guard Self.known(path: path) === self else { return }
            // Somebody has opened the file meanwhile, and goes on with this session.
            guard !OpenFile.isUsed(path) else { return resume() }
            Self.remove(path: path)?.close()
        }
    }
}
